// Creation, hand-over and adoption of thread heaps, without locks.
#include "runtime/thread_heap.h"

#include <pthread.h>
#include <sys/mman.h>

namespace halo::runtime {

__thread ThreadHeap* current_heap __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

constinit std::span<const plan::Group> plan_groups;
constinit std::uint32_t max_block = 0;
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

void configure_heaps(std::span<const plan::Group> groups, std::uint32_t max_object) {
  plan_groups = groups;
  max_block = block_bytes(max_object, 16);
  have_exit_key = pthread_key_create(&exit_key, abandon_thread_heap) == 0;
}

GroupHeap* ThreadHeap::make_group(std::uint32_t group) {
  auto* heap = static_cast<GroupHeap*>(map_metadata(GroupHeap::footprint(max_block)));
  if (heap == nullptr) return nullptr;
  heap->initialise(this, plan_groups[group]);
  groups_[group] = heap;
  return heap;
}

ThreadHeap* adopt_thread_heap() {
  ThreadHeap* heap = all_heaps.load(std::memory_order_acquire);
  for (; heap != nullptr; heap = heap->next_) {
    bool expected = false;
    if (!heap->owned_.load(std::memory_order_relaxed) &&
        heap->owned_.compare_exchange_strong(expected, true, std::memory_order_acquire))
      break;
  }
  if (heap == nullptr) {
    const std::size_t bytes = sizeof(ThreadHeap) + plan_groups.size() * sizeof(GroupHeap*);
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
