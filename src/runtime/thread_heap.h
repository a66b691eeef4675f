// A thread's group heaps: made on its first grouped allocation, handed on when it ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "plan/format.h"
#include "runtime/group_heap.h"

namespace halo::runtime {

class ThreadHeap {
 public:
  // The heap of `group`, made on first use; nullptr when memory is refused.
  GroupHeap* group(std::uint32_t group) {
    GroupHeap* heap = groups_[group];
    return heap != nullptr ? heap : make_group(group);
  }
  GroupHeap* existing(std::uint32_t group) const { return groups_[group]; }
  const ThreadHeap* next() const { return next_; }

 private:
  friend ThreadHeap* adopt_thread_heap();
  friend void abandon_thread_heap(void*);

  GroupHeap* make_group(std::uint32_t group);

  std::atomic<bool> owned_;
  ThreadHeap* next_;      // all heaps ever made; they are never unmapped
  GroupHeap* groups_[1];  // as many as the plan has groups
};

// Set once, before the first grouped allocation.
void configure_heaps(std::span<const plan::Group> groups, std::uint32_t max_object);

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
