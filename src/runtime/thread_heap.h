// A thread's group heaps: made on its first grouped allocation, handed on when it ends.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <span>

#include "plan/format.h"
#include "runtime/group_heap.h"

namespace halo::runtime {

// Where a group's heaps are among a thread's: one, or one for each block size.
struct GroupShape {
  std::uint32_t first_heap;
  std::uint32_t heaps;
  bool by_size;
};
extern constinit const GroupShape* group_shapes;

// Block sizes of groups with a heap for each: multiples of 8 up to 256 bytes, then sixteen steps to
// the next power of two, so that at most a sixteenth is wasted.
inline std::uint32_t size_class(std::uint32_t bytes) {
  if (bytes <= 256) return bytes;
  const std::uint32_t step = std::bit_floor(bytes - 1) / 16;
  return (bytes + step - 1) & ~(step - 1);
}

class ThreadHeap {
 public:
  // The heap that serves blocks of `bytes` (from block_bytes) in `group`, made on first use;
  // nullptr when memory is refused. Rounds `bytes` up where the group keeps a heap for each size.
  GroupHeap* heap(std::uint32_t group, std::uint32_t& bytes) {
    const GroupShape shape = group_shapes[group];
    std::uint32_t at = shape.first_heap;
    if (shape.by_size) {
      bytes = size_class(bytes);
      at += bytes / static_cast<std::uint32_t>(granule);
    }
    GroupHeap* found = heaps_[at];
    return found != nullptr ? found : make_heap(group, at);
  }

  // The heap at a position from group_shapes, or nullptr: it was never used.
  GroupHeap* existing(std::uint32_t at) const { return heaps_[at]; }
  const ThreadHeap* next() const { return next_; }

 private:
  friend ThreadHeap* adopt_thread_heap();
  friend void abandon_thread_heap(void*);

  GroupHeap* make_heap(std::uint32_t group, std::uint32_t at);

  std::atomic<bool> owned_;
  ThreadHeap* next_;     // all heaps ever made; they are never unmapped
  GroupHeap* heaps_[1];  // as many as group_shapes say
};

// Set once, before the first grouped allocation; false when memory is refused.
bool configure_heaps(std::span<const plan::Group> groups, std::uint32_t max_object);

// The calling thread's heap, or nullptr: it has made no grouped allocation yet.
// (__thread, not thread_local: the compiler then knows that no constructor has to run first.)
extern __thread ThreadHeap* current_heap __attribute__((tls_model("initial-exec")));

// Gives the calling thread a heap: one that an ended thread left, or a new one. nullptr when memory
// is refused.
ThreadHeap* adopt_thread_heap();

inline ThreadHeap* thread_heap() {
  ThreadHeap* heap = current_heap;
  return heap != nullptr ? heap : adopt_thread_heap();
}

// The first of all heaps ever made, for statistics.
const ThreadHeap* first_thread_heap();

}  // namespace halo::runtime
