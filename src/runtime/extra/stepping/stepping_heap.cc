#include "runtime/extra/stepping/stepping_heap.h"

#include <pthread.h>

#include <algorithm>

#include "runtime/heap/group_heap.h"
#include "runtime/pages/free_block.h"
#include "runtime/pages/page_bits.h"

namespace halo::runtime {
namespace {

// Remote frees that one request collects at most.
constexpr int kMaxDrained = 256;

uint32_t offset_of(const char* p) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(p) % kPageSize);
}

// A counter that other threads read at any time; only the holder of the lock changes it.
void add(uint64_t& counter, uint64_t more) {
  __atomic_store_n(&counter, counter + more, __ATOMIC_RELAXED);
}
void raise(uint64_t& counter, uint64_t to) {
  if (counter < to) __atomic_store_n(&counter, to, __ATOMIC_RELAXED);
}
uint64_t read(const uint64_t& counter) { return __atomic_load_n(&counter, __ATOMIC_RELAXED); }

}  // namespace

constinit SteppingHeap stepping_heap;

namespace {

// The thread holds the lock for a fork.
__thread bool forks __attribute__((tls_model("initial-exec"))) = false;

}  // namespace

void* SteppingHeap::allocate(const StartMask& mask, uint32_t bytes) {
  if (!lock_.acquire()) {
    busy_.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  drain();
  const uint32_t alignment = bytes % 16 == 0 ? 16 : kGranule;
  char* p = reuse(mask, bytes, alignment);
  if (p == nullptr) p = step(mask, bytes, alignment);
  void* const served = p == nullptr ? nullptr : serve(p, bytes);
  if (served == nullptr) add(counts_.refusals, 1);
  lock_.release();
  return served;
}

// A free block, of which the rest behind `bytes` stays free.
char* SteppingHeap::reuse(const StartMask& mask, uint32_t bytes, uint32_t alignment) {
  char* p = free_.take(bytes, [&](const char* start) {
    return offset_of(start) % alignment == 0 && mask.permits(offset_of(start));
  });
  if (p == nullptr) return nullptr;
  Page& page = arena.page_of(p);
  Starts starts(page);
  char* const end = starts.next_after(p);
  PageBits(page).remove_free(p);
  if (p + bytes != end) {
    starts.mark(p + bytes);
    add_free(p + bytes, end);
  }
  return p;
}

// A block behind the last one, at the first permitted start, in a new page if necessary.
char* SteppingHeap::step(const StartMask& mask, uint32_t bytes, uint32_t alignment) {
  if (mask.from(0) + bytes > kPageSize) return nullptr;
  const auto next_start = [&] { return mask.from((next_ + alignment - 1) & ~(alignment - 1)); };
  if (page_ != nullptr && next_start() + bytes > kPageSize) leave_page();
  if (page_ == nullptr && !open_page()) return nullptr;
  const uint32_t start = next_start();
  char* const memory = arena.memory_of(*page_);
  const uint32_t buffer = next_;
  next_ = start + bytes;
  Starts starts(*page_);
  starts.mark(memory + start);
  starts.mark(memory + next_);
  if (buffer != start) {
    add_free(memory + buffer, memory + start);
    add(counts_.skipped, start - buffer);
  }
  account_touched();
  return memory + start;
}

bool SteppingHeap::open_page() {
  Page* page = arena.acquire(PageKind::kNormal);
  if (page == nullptr) return false;
  arena.bits_of(*page)->free = 0;  // a first access that reads would fault twice
  page->mixed = {};
  page->heap = nullptr;
  page->list = nullptr;
  page->block = 0;
  page->queued = false;
  page->thread.store(kSteppingOwner, std::memory_order_release);
  page_ = page;
  next_ = 0;
  Starts(*page).mark(arena.memory_of(*page));
  add(counts_.pages, 1);
  add(counts_.resident, page->touched * kSystemPage);
  return true;
}

// The rest of the page becomes a free block.
void SteppingHeap::leave_page() {
  Page& page = *page_;
  page_ = nullptr;
  if (page.mixed.used == 0) return release_page(page);
  char* const memory = arena.memory_of(page);
  if (next_ != kPageSize) add_free(memory + next_, memory + kPageSize);
}

// The entries of its free blocks become stale.
void SteppingHeap::release_page(Page& page) {
  PageBits(page).clear_free();
  Starts(page).clear();
  add(counts_.pages, uint64_t{0} - 1);
  add(counts_.resident, uint64_t{0} - page.touched * kSystemPage);
  arena.release(page);
}

// Counts the system pages below the bump offset as touched, and takes a sample of the peaks.
void SteppingHeap::account_touched() {
  const size_t touched = (next_ + kSystemPage - 1) / kSystemPage;
  if (touched <= page_->touched) return;
  add(counts_.resident, (touched - page_->touched) * kSystemPage);
  page_->touched = static_cast<uint8_t>(touched);
  if (counts_.resident <= counts_.peak_resident) return;
  raise(counts_.peak_resident, counts_.resident);
  __atomic_store_n(&counts_.live_at_peak, counts_.live, __ATOMIC_RELAXED);
}

// Hands out a block: its memory must not look like a freed one.
void* SteppingHeap::serve(char* p, uint32_t bytes) {
  arena.mark_used(p);
  ++arena.page_of(p).mixed.used;
  add(counts_.live, bytes);
  raise(counts_.peak_live, counts_.live);
  reinterpret_cast<Block*>(p)->clear();
  return p;
}

void SteppingHeap::add_free(char* p, char* end) {
  PageBits(arena.page_of(p)).add_free(p);
  free_.push(p, static_cast<uint32_t>(end - p));
}

void SteppingHeap::free(void* p) {
  if (!GroupHeap::may_be_in_use(p)) return;
  if (!lock_.try_acquire()) return remote_.push(static_cast<Block*>(p));
  free_block(static_cast<char*>(p));
  drain();
  lock_.release();
}

void SteppingHeap::free_block(char* p) {
  Page& page = arena.page_of(p);
  // The page of a block that was freed twice may belong to another heap now.
  if (page.thread.load(std::memory_order_relaxed) != kSteppingOwner) return;
  if (!PageBits::move_to_free(page, p)) return;
  reinterpret_cast<Block*>(p)->mark_freed();
  Starts starts(page);
  char* end = starts.next_after(p);
  add(counts_.live, static_cast<uint64_t>(p - end));
  if (--page.mixed.used == 0 && &page != page_) return release_page(page);
  PageBits bits(page);
  if (offset_of(end) != 0 && bits.is_free(end)) {
    char* const behind = end;
    end = starts.next_after(behind);
    bits.remove_free(behind);
    starts.clear_between(p, end);
  }
  free_.push(p, static_cast<uint32_t>(end - p));
}

void SteppingHeap::drain() {
  if (remote_.is_empty()) return;
  for (int i = 0; i < kMaxDrained; ++i) {
    Block* block = remote_.pop();
    if (block == nullptr) break;
    // A block that was freed twice may be in use again.
    if (block->is_marked_freed()) free_block(reinterpret_cast<char*>(block));
  }
  remote_.make_room();
}

// A child whose parent could not get the lock finds it held, and forwards.
void SteppingHeap::survive_forks() {
  if (survives_forks_) return;
  survives_forks_ = true;
  const auto prepare = [] { forks = stepping_heap.lock_.acquire(); };
  const auto resume = [] {
    if (forks) stepping_heap.lock_.release();
  };
  pthread_atfork(prepare, resume, resume);
}

SteppingCounts SteppingHeap::counts() const {
  const uint64_t live = read(counts_.live);
  return {live - std::min(live, remote_.bytes()),
          read(counts_.peak_live),
          read(counts_.resident),
          read(counts_.peak_resident),
          read(counts_.live_at_peak),
          read(counts_.pages),
          read(counts_.skipped),
          read(counts_.refusals) + busy_.load(std::memory_order_relaxed)};
}

void begin_stepping() { stepping_heap.survive_forks(); }

void* serve_stepping(const plan::Group& group, uint32_t bytes) {
  return stepping_heap.allocate(StartMask::of(group), bytes);
}

void free_stepping(void* p) { stepping_heap.free(p); }

SteppingCounts stepping_counts() { return stepping_heap.counts(); }

}  // namespace halo::runtime
