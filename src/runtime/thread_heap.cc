// Creation, hand-over and adoption of thread heaps, without locks.
#include "runtime/thread_heap.h"

#include <pthread.h>
#include <sys/mman.h>

#include "base/keep_errno.h"
#include "runtime/at_once.h"

namespace halo::runtime {

__thread ThreadHeap* current_heap __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

// The thread has given its heap up: what it still allocates, in destructors that run later, is
// forwarded.
__thread bool ending __attribute__((tls_model("initial-exec"))) = false;

constinit std::span<const plan::Group> plan_groups;
constinit std::uint32_t max_block = 0;
constinit std::atomic<ThreadHeap*> all_heaps{nullptr};
constinit Peak* peaks = nullptr;
pthread_key_t exit_key;
constinit bool have_exit_key = false;

constexpr std::size_t metadata_step = 64 * 1024;

// Of groups that the thread has not allocated from. Never written.
constinit BlockList no_lists[plan::max_object_limit / granule + 1]{};

void* map_metadata(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

bool is_by_size(std::uint32_t group) {
  return (plan_groups[group].flags & plan::group_by_size) != 0;
}

}  // namespace

void configure_heaps(std::span<const plan::Group> groups, std::uint32_t max_object) {
  plan_groups = groups;
  max_block = size_class(block_bytes(max_object, true));
  if (!have_exit_key) have_exit_key = pthread_key_create(&exit_key, abandon_thread_heap) == 0;
}

// Aligned to cache lines.
void* ThreadHeap::metadata(std::size_t bytes) {
  bytes = (bytes + 63) & ~std::size_t{63};
  for (;;) {
    char* p = metadata_;
    if (metadata_end_ - p >= static_cast<std::ptrdiff_t>(bytes)) {
      if (replace_at_once(metadata_, p, p + bytes)) return p;
      continue;
    }
    std::size_t mapped = bytes > metadata_step ? bytes : metadata_step;
    auto* memory = static_cast<char*>(map_metadata(mapped));
    if (memory == nullptr) {
      mapped = (bytes + page - 1) & ~(page - 1);
      memory = static_cast<char*>(map_metadata(mapped));
    }
    if (memory == nullptr) return nullptr;
    metadata_end_ = nullptr;  // a signal handler maps its own
    in_this_order();
    metadata_ = memory;
    in_this_order();
    metadata_end_ = memory + mapped;
  }
}

GroupHeap** ThreadHeap::first_heaps() const {
  return reinterpret_cast<GroupHeap**>(const_cast<BlockList**>(lists_) + plan_groups.size());
}

ThreadHeap* ThreadHeap::make() {
  const std::size_t groups = plan_groups.size();
  const std::size_t scratch = starts_words * sizeof(std::uint64_t);
  const std::size_t arrays = groups * (sizeof *lists_ + sizeof(GroupHeap*));
  auto* memory = static_cast<char*>(map_metadata(scratch + sizeof(ThreadHeap) + arrays));
  if (memory == nullptr) return nullptr;
  auto* heap = reinterpret_cast<ThreadHeap*>(memory + scratch);
  heap->scratch_ = reinterpret_cast<std::uint64_t*>(memory);
  for (std::size_t i = 0; i < groups; ++i) heap->lists_[i] = no_lists;
  return heap;
}

BlockList* ThreadHeap::make_lists(std::uint32_t group) {
  const std::size_t count = max_block / granule + 1;
  auto* made = static_cast<BlockList*>(metadata(count * sizeof(BlockList)));
  if (made == nullptr) return nullptr;
  if (lists_[group] == no_lists) lists_[group] = made;  // else, a signal handler was here
  return lists_[group];
}

GroupHeap* ThreadHeap::heap(std::uint32_t group, std::uint32_t& bytes) {
  const bool by_size = is_by_size(group);
  if (by_size) bytes = size_class(bytes);
  if (GroupHeap* heap = existing_heap(group, bytes)) return heap;
  const KeepErrno keep;
  BlockList* lists = lists_[group] != no_lists ? lists_[group] : make_lists(group);
  if (lists == nullptr) return nullptr;
  GroupHeap*& first = first_heaps()[group];
  BlockList& list = lists[bytes / granule];
  if (by_size || first == nullptr) {
    const std::uint32_t smallest = by_size ? bytes : static_cast<std::uint32_t>(granule);
    const std::uint32_t largest = by_size ? bytes : max_block;
    auto* made = static_cast<GroupHeap*>(metadata(sizeof(GroupHeap)));
    if (made == nullptr) return nullptr;
    if (list.heap != nullptr) return list.heap;  // a signal handler was here
    if (by_size || first == nullptr) {
      made->initialise(this, group, plan_groups[group], smallest, largest, lists, first);
      list.heap = made;
      __atomic_store_n(&first, made, __ATOMIC_RELEASE);
      return made;
    }
  }
  list.heap = first;
  return list.heap;
}

bool ThreadHeap::adopt() {
  bool expected = false;
  return !owned_.load(std::memory_order_relaxed) &&
         owned_.compare_exchange_strong(expected, true, std::memory_order_acquire);
}

void ThreadHeap::tidy_heaps(const GroupHeap* except, std::uint64_t enough) {
  for (std::uint32_t group = 0; group < plan_groups.size(); ++group)
    for_each(group, [&](GroupHeap& heap) {
      if (&heap != except && heap.is_untidy() &&
          heap.resident_bytes() >= heap.live_bytes() + enough)
        heap.tidy(true);
    });
}

void ThreadHeap::tidy_others(const GroupHeap* growing) {
  tidy_heaps(growing, chunk_size / 2);
  for (ThreadHeap* heap = all_heaps.load(std::memory_order_acquire); heap != nullptr;
       heap = heap->next_) {
    if (!heap->adopt()) continue;
    heap->tidy_heaps(nullptr, chunk_size / 2);
    heap->owned_.store(false, std::memory_order_release);
  }
}

void abandon_thread_heap(void* value) {
  ending = true;
  current_heap = nullptr;
  auto* heap = static_cast<ThreadHeap*>(value);
  heap->tidy_heaps(nullptr, chunk_size / 8);
  heap->owned_.store(false, std::memory_order_release);
}

ThreadHeap* adopt_thread_heap() {
  if (ending) return nullptr;
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
  current_heap = heap;
  if (have_exit_key) pthread_setspecific(exit_key, heap);
  return heap;
}

void prepare_heap() {
  if (ThreadHeap* heap = thread_heap()) heap->metadata(1);
}

const ThreadHeap* first_thread_heap() { return all_heaps.load(std::memory_order_acquire); }

void watch_growth() {
  if (peaks == nullptr) peaks = static_cast<Peak*>(map_metadata(plan_groups.size() * sizeof(Peak)));
}

const Peak* peak_of(std::uint32_t group) { return peaks == nullptr ? nullptr : &peaks[group]; }

GroupBytes ThreadHeap::bytes_of(std::uint32_t group) const {
  GroupBytes sum;
  for_each(group, [&](const GroupHeap& heap) {
    sum.resident += heap.resident_bytes() + arena.half_page_of(&heap);
    sum.live += heap.live_bytes();
  });
  return sum;
}

void observe_growth(std::uint32_t group) {
  if (peaks == nullptr) [[likely]]
    return;
  std::uint64_t resident = 0, live = 0;
  for (const ThreadHeap* t = first_thread_heap(); t != nullptr; t = t->next()) {
    const GroupBytes part = t->bytes_of(group);
    resident += part.resident;
    live += part.live;
  }
  Peak& peak = peaks[group];
  if (live > peak.most_live.load(std::memory_order_relaxed))
    peak.most_live.store(live, std::memory_order_relaxed);
  // These pages were taken since the last look; in use was what was live then, or is now.
  const std::uint64_t before = peak.last_live.exchange(live, std::memory_order_relaxed);
  if (resident <= peak.resident.load(std::memory_order_relaxed)) return;
  peak.resident.store(resident, std::memory_order_relaxed);
  peak.live.store(before > live ? before : live, std::memory_order_relaxed);
}

}  // namespace halo::runtime
