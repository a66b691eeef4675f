// Creation, hand-over and adoption of thread heaps, without locks.
#include "runtime/thread_heap.h"

#include <pthread.h>
#include <sys/mman.h>

#include "runtime/keep_errno.h"

namespace halo::runtime {

__thread ThreadHeap* current_heap __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

constinit std::span<const plan::Group> plan_groups;
constinit std::uint32_t max_block = 0;
constinit std::uint32_t heap_count = 0;  // of a thread, over all groups
constinit std::atomic<ThreadHeap*> all_heaps{nullptr};
pthread_key_t exit_key;
constinit bool have_exit_key = false;

void* map_metadata(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

}  // namespace

// Runs as the thread ends. Its blocks stay valid; whoever adopts the heap goes on serving from it.
void abandon_thread_heap(void* heap) {
  current_heap = nullptr;
  static_cast<ThreadHeap*>(heap)->owned_.store(false, std::memory_order_release);
}

constinit const GroupShape* group_shapes = nullptr;

bool configure_heaps(std::span<const plan::Group> groups, std::uint32_t max_object) {
  auto* shapes = static_cast<GroupShape*>(map_metadata(groups.size() * sizeof(GroupShape)));
  if (shapes == nullptr) return false;
  plan_groups = groups;
  max_block = size_class(block_bytes(max_object, 16));
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const bool by_size = (groups[i].flags & plan::group_by_size) != 0;
    const auto heaps = by_size ? max_block / static_cast<std::uint32_t>(granule) + 1 : 1;
    shapes[i] = {heap_count, heaps, by_size};
    heap_count += heaps;
  }
  group_shapes = shapes;
  have_exit_key = pthread_key_create(&exit_key, abandon_thread_heap) == 0;
  return true;
}

GroupHeap* ThreadHeap::make_heap(std::uint32_t group, std::uint32_t at) {
  const KeepErrno keep;
  auto* heap = static_cast<GroupHeap*>(map_metadata(GroupHeap::footprint(max_block)));
  if (heap == nullptr) return nullptr;
  heap->initialise(this, plan_groups[group]);
  heaps_[at] = heap;
  return heap;
}

ThreadHeap* adopt_thread_heap() {
  const KeepErrno keep;
  ThreadHeap* heap = all_heaps.load(std::memory_order_acquire);
  for (; heap != nullptr; heap = heap->next_) {
    bool expected = false;
    if (!heap->owned_.load(std::memory_order_relaxed) &&
        heap->owned_.compare_exchange_strong(expected, true, std::memory_order_acquire))
      break;
  }
  if (heap == nullptr) {
    const std::size_t bytes = sizeof(ThreadHeap) + heap_count * sizeof(GroupHeap*);
    heap = static_cast<ThreadHeap*>(map_metadata(bytes));
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

const ThreadHeap* first_thread_heap() { return all_heaps.load(std::memory_order_acquire); }

}  // namespace halo::runtime
