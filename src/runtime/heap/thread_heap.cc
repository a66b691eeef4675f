// Creation, abandonment and adoption of thread heaps, without locks.
#include "runtime/heap/thread_heap.h"

#include <pthread.h>

#include <algorithm>

#include "base/keep_errno.h"
#include "base/old_c_library.h"
#include "runtime/extra.h"
#include "runtime/heap/free_in_page.h"
#include "runtime/heap/metadata.h"

namespace halo::runtime {

__thread ThreadHeap* current_heap __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

// The state of a thread that has abandoned its heap: allocations of later destructors are
// forwarded.
ThreadHeap* const kEnded = reinterpret_cast<ThreadHeap*>(8);

// The thread's heap, even while the thread is inside it; or `kEnded`.
__thread ThreadHeap* own_heap __attribute__((tls_model("initial-exec"))) = nullptr;

constinit std::span<const plan::Group> plan_groups;
constinit unsigned class_count = 0;  // number of size classes of groups
constinit std::atomic<ThreadHeap*> all_heaps{nullptr};
constinit Peak* peaks = nullptr;
pthread_key_t exit_key;
constinit bool have_exit_key = false;

// With at most this many groups, threads share no heaps.
constexpr size_t kFewGroups = 8;

// Bytes that a group gets from shared heaps in a thread before it has its own heap there.
constexpr uint32_t kMaxShared = 16 * 1024;

constexpr size_t kMetadataStep = 64 * 1024;

// Maximum number of remote frees collected by one request.
constexpr int kMaxDrained = 256;

// The table of groups that the thread has not allocated from. Never written.
struct EmptyTable {
  FreeList* of[kClassNumbers.count];
  constexpr EmptyTable() : of{} {
    for (FreeList*& each : of) each = &no_list;
  }
};
constinit EmptyTable no_lists;

size_t heap_count() { return plan_groups.size() + kSharedHeaps; }

// The shared heap for groups with those settings.
uint32_t shared_heap_for(const plan::Group& settings) {
  const uint32_t by_size = (settings.flags & plan::kGroupBySize) != 0 ? 1 : 0;
  const uint32_t newest = settings.reuse == plan::Reuse::kNewestFirst ? 2 : 0;
  return static_cast<uint32_t>(plan_groups.size()) + by_size + newest;
}

// The settings of a group or of a shared heap.
plan::Group settings_of(uint32_t number) {
  if (number < plan_groups.size()) return plan_groups[number];
  const auto layout = static_cast<uint32_t>(number - plan_groups.size());
  plan::Group settings{};
  if ((layout & 1) != 0) settings.flags = plan::kGroupBySize;
  settings.reuse = (layout & 2) != 0 ? plan::Reuse::kNewestFirst : plan::Reuse::kWholeChunks;
  return settings;
}

}  // namespace

bool steps(uint32_t group) {
  return kHasExtra && group < plan_groups.size() &&
         (plan_groups[group].flags & plan::kGroupStepping) != 0;
}

bool is_shared_heap(uint32_t number) { return number >= plan_groups.size(); }

void configure_heaps(std::span<const plan::Group> groups, uint32_t max_object) {
  plan_groups = groups;
  class_count = class_number(size_class(block_bytes(max_object, true))) + 1;
  for (uint32_t group = 0; group < groups.size(); ++group)
    if (steps(group)) begin_stepping();
  if (!have_exit_key) have_exit_key = make_key(exit_key, abandon_thread_heap);
}

void* ThreadHeap::metadata(size_t bytes) {
  bytes = (bytes + 63) & ~size_t{63};
  if (metadata_end_ - metadata_ < static_cast<ptrdiff_t>(bytes)) {
    const KeepErrno keep;
    size_t mapped = bytes > kMetadataStep ? bytes : kMetadataStep;
    auto* memory = static_cast<char*>(map_metadata(mapped));
    if (memory == nullptr) {
      mapped = (bytes + kSystemPage - 1) & ~(kSystemPage - 1);
      memory = static_cast<char*>(map_metadata(mapped));
    }
    if (memory == nullptr) return nullptr;
    metadata_ = memory;
    metadata_end_ = memory + mapped;
  }
  char* p = metadata_;
  metadata_ += bytes;
  return p;
}

GroupHeap** ThreadHeap::heaps() const {
  return reinterpret_cast<GroupHeap**>(const_cast<void**>(tables_) + heap_count());
}

ThreadHeap::Shared* ThreadHeap::shared() const {
  return reinterpret_cast<Shared*>(heaps() + heap_count());
}

// The first heap, which does not share, is the first thread's.
bool ThreadHeap::shares() const { return next_ != nullptr && plan_groups.size() > kFewGroups; }

ThreadHeap* ThreadHeap::make() {
  const size_t count = heap_count();
  const size_t arrays =
      count * (sizeof *tables_ + sizeof(GroupHeap*)) + plan_groups.size() * sizeof(Shared);
  auto* heap = static_cast<ThreadHeap*>(map_metadata(sizeof(ThreadHeap) + arrays));
  if (heap == nullptr) return nullptr;
  for (size_t i = 0; i < count; ++i) heap->tables_[i] = no_lists.of;
  return heap;
}

GroupHeap* ThreadHeap::heap_for(uint32_t group, uint32_t bytes) {
  const bool may_share = (plan_groups[group].flags & plan::kGroupLayoutFlags) == 0;
  if (heaps()[group] == nullptr && may_share && shares() && shared()[group].bytes < kMaxShared) {
    shared()[group].bytes += bytes;
    return own_heap_of(shared_heap_for(plan_groups[group]));
  }
  return own_heap_of(group);
}

void* ThreadHeap::allocate_stepping(uint32_t group, uint32_t bytes) {
  if (!steps(group)) return nullptr;
  void* p = serve_stepping(plan_groups[group], bytes);
  if (p != nullptr) count_shared(group);
  return p;
}

void ThreadHeap::count_shared(uint32_t group) {
  uint32_t& count = shared()[group].allocations;
  __atomic_store_n(&count, count + 1, __ATOMIC_RELAXED);
}

uint32_t ThreadHeap::shared_allocations(uint32_t group) const {
  return __atomic_load_n(&shared()[group].allocations, __ATOMIC_RELAXED);
}

GroupHeap* ThreadHeap::own_heap_of(uint32_t group) {
  GroupHeap*& heap = heaps()[group];
  if (heap != nullptr) return heap;
  if (steps(group)) return nullptr;
  auto* made = static_cast<GroupHeap*>(metadata(sizeof(GroupHeap)));
  auto** lists = static_cast<FreeList**>(metadata(class_count * sizeof(FreeList*)));
  if (made == nullptr || lists == nullptr) return nullptr;
  std::fill_n(lists, class_count, &no_list);
  made->initialise(this, group, settings_of(group), lists);
  tables_[group] = lists;
  __atomic_store_n(&heap, made, __ATOMIC_RELEASE);
  return made;
}

template <typename Free>
bool ThreadHeap::drain(Free free) {
  if (remote_.is_empty()) return false;
  bool any = false;
  for (int i = 0; i < kMaxDrained; ++i) {
    Block* block = remote_.pop();
    if (block == nullptr) break;
    any = true;
    // The page of a block that was freed twice may belong to another heap now.
    Page& page = arena.page_of(block);
    if (page.thread.load(std::memory_order_relaxed) == this) free(page, block);
  }
  remote_.make_room();
  return any;
}

bool ThreadHeap::drain_remote() {
  return drain([](Page& page, Block* block) {
    // A block that was freed twice may be in use again.
    if (!block->is_marked_freed()) return;
    block->clear();
    page.heap->deallocate(page, block);
  });
}

// If no thread owns the heap, the caller adopts it for the duration of the free, so that its pages
// are released.
void ThreadHeap::free_remotely(Page& page, void* p) {
  if (!GroupHeap::may_be_in_use(p)) return;
  if (!adopt()) return remote_.push(static_cast<Block*>(p));
  if (page.thread.load(std::memory_order_relaxed) != this) return leave();
  GroupHeap& heap = *page.heap;
  heap.deallocate_to_page(page, p);
  drain([](Page& each, Block* block) {
    if (!block->is_marked_freed()) return;
    block->clear();
    each.heap->deallocate_to_page(each, block);
  });
  heap.leave_empty_page();
  leave();
}

void ThreadHeap::flush() {
  while (drain_remote()) {
  }
  for (uint32_t group = 0; group < heap_count(); ++group)
    if (GroupHeap* of_group = heaps()[group]) of_group->flush();
}

bool ThreadHeap::adopt() {
  bool expected = false;
  return !owned_.load(std::memory_order_relaxed) &&
         owned_.compare_exchange_strong(expected, true, std::memory_order_acquire);
}

void abandon_thread_heap(void* value) {
  auto* heap = static_cast<ThreadHeap*>(value);
  const bool was_inside = current_heap != heap;
  own_heap = kEnded;
  current_heap = nullptr;
  // A signal handler left the heap by a jump: it may be half changed, so it is never adopted.
  if (was_inside) return;
  heap->flush();
  heap->leave();
}

ThreadHeap* adopt_thread_heap() {
  if (own_heap != nullptr) return nullptr;
  const KeepErrno keep;
  ThreadHeap* heap = all_heaps.load(std::memory_order_acquire);
  while (heap != nullptr && !heap->adopt()) heap = heap->next_;
  if (heap == nullptr) {
    heap = ThreadHeap::make();
    if (heap == nullptr) return nullptr;
    heap->owned_.store(true, std::memory_order_relaxed);
    heap->next_ = all_heaps.load(std::memory_order_relaxed);
    while (!all_heaps.compare_exchange_weak(heap->next_, heap, std::memory_order_release)) {
    }
  }
  // Set first: pthread_setspecific may allocate, and that allocation may be grouped.
  current_heap = own_heap = heap;
  if (have_exit_key) pthread_setspecific(exit_key, heap);
  return heap;
}

void spill_and_leave(FreeList& list, const void* p, ThreadHeap* heap) {
  arena.page_of(p).heap->spill(list);
  leave_heap(heap);
}

void prepare_heap() {
  if (ThreadHeap* heap = thread_heap()) {
    const InsideHeap inside(heap);
    heap->metadata(1);
  }
}

const ThreadHeap* first_thread_heap() { return all_heaps.load(std::memory_order_acquire); }

void watch_growth() {
  if (peaks == nullptr) peaks = static_cast<Peak*>(map_metadata(heap_count() * sizeof(Peak)));
}

const Peak* peak_of(uint32_t group) { return peaks == nullptr ? nullptr : &peaks[group]; }

GroupBytes ThreadHeap::bytes_of(uint32_t group) const {
  const GroupHeap* heap = existing_heap(group);
  return heap == nullptr ? GroupBytes{} : GroupBytes{heap->resident_bytes(), heap->live_bytes()};
}

GroupBytes ThreadHeap::bytes() const {
  const uint64_t freed = remote_.bytes();
  GroupBytes sum;
  for (uint32_t group = 0; group < heap_count(); ++group) {
    if (const GroupHeap* heap = existing_heap(group)) {
      sum.resident += heap->resident_bytes();
      sum.live += heap->live_bytes();
    }
  }
  sum.live -= std::min(sum.live, freed);
  return sum;
}

void observe_growth(uint32_t group) {
  if (peaks == nullptr) [[likely]]
    return;
  uint64_t resident = 0, live = 0;
  for (const ThreadHeap* t = first_thread_heap(); t != nullptr; t = t->next()) {
    const GroupBytes part = t->bytes_of(group);
    resident += part.resident;
    live += part.live;
  }
  Peak& peak = peaks[group];
  if (live > peak.max_live.load(std::memory_order_relaxed))
    peak.max_live.store(live, std::memory_order_relaxed);
  // The pages were added since the last sample; the live bytes are those of that sample or the
  // current ones.
  const uint64_t before = peak.last_live.exchange(live, std::memory_order_relaxed);
  if (resident <= peak.resident.load(std::memory_order_relaxed)) return;
  peak.resident.store(resident, std::memory_order_relaxed);
  peak.live.store(before > live ? before : live, std::memory_order_relaxed);
}

}  // namespace halo::runtime
