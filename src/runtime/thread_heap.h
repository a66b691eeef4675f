// A thread's group heaps: made on its first grouped allocation, handed on when it ends.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <span>

#include "plan/format.h"
#include "runtime/callers.h"
#include "runtime/group_heap.h"

namespace halo::runtime {

// Block sizes of groups with a heap for each: multiples of 8 up to 256 bytes, then sixteen steps to
// the next power of two, so that at most a sixteenth is wasted.
inline std::uint32_t size_class(std::uint32_t bytes) {
  if (bytes <= 256) return bytes;
  const std::uint32_t step = std::bit_floor(bytes - 1) / 16;
  return (bytes + step - 1) & ~(step - 1);
}

// Bytes of pages, and of blocks.
struct GroupBytes {
  std::uint64_t resident = 0, live = 0;
};

class ThreadHeap {
 public:
  // A block of `bytes` (from block_bytes) of a decided caller's group if one is at hand, else
  // nullptr: then ask its heap.
  void* allocate_quickly(CallerCode code, std::size_t bytes) const {
    static_assert(sizeof *lists_ == 8);  // the group's part of a code is its offset here
    const auto* of_group = reinterpret_cast<BlockList* const*>(
        reinterpret_cast<const char*>(lists_) + (code & code_group));
    BlockList& list = list_in(*of_group, bytes);
    if (list.first != nullptr) [[likely]]
      return list.heap->take(list, bytes);
    return list.heap == nullptr ? nullptr : list.heap->carve_quickly(bytes);
  }

  // The heap that serves blocks of `bytes` in `group`, if it has been asked for and needs no
  // rounding; else nullptr: then call `heap`.
  GroupHeap* existing_heap(std::uint32_t group, std::uint32_t bytes) const {
    return list_in(lists_[group], bytes).heap;
  }

  // The same, made on first use; nullptr when memory is refused. Rounds `bytes` up where the group
  // keeps a heap for each size.
  GroupHeap* heap(std::uint32_t group, std::uint32_t& bytes);

  // Calls `visit` for each heap of a group that is there.
  template <typename Visit>
  void for_each(std::uint32_t group, Visit visit) const {
    GroupHeap* heap = __atomic_load_n(&first_heaps()[group], __ATOMIC_ACQUIRE);
    for (; heap != nullptr; heap = heap->next_of_group()) visit(*heap);
  }

  // Of this thread's part of a group.
  GroupBytes bytes_of(std::uint32_t group) const;

  // All heaps ever made, one after the other; they are never unmapped.
  const ThreadHeap* next() const { return next_; }

  // Before a heap grows by a chunk: tidies the others of this thread, and those that ended threads
  // left, where that frees a chunk or more. The owner only.
  void tidy_others(const GroupHeap* growing);

  // A bit for each granule of a chunk, all clear. The owner only.
  std::uint64_t* scratch() { return scratch_; }

 private:
  friend ThreadHeap* adopt_thread_heap();
  friend void prepare_heap();
  friend void abandon_thread_heap(void*);

  static BlockList& list_in(BlockList* lists, std::size_t bytes) {
    return *reinterpret_cast<BlockList*>(reinterpret_cast<char*>(lists) +
                                         bytes * (sizeof(BlockList) / granule));
  }
  // By group; after the lists.
  GroupHeap** first_heaps() const;

  static ThreadHeap* make();
  BlockList* make_lists(std::uint32_t group);
  bool adopt();
  void tidy_heaps(const GroupHeap* except, std::uint64_t enough);
  void* metadata(std::size_t bytes);

  std::atomic<bool> owned_;
  ThreadHeap* next_;
  std::uint64_t* scratch_;
  char* metadata_;       // what is left of the last mapping
  char* metadata_end_;   // and its end
  BlockList* lists_[1];  // by group: a list for each granule
};

// Before the first grouped allocation.
void configure_heaps(std::span<const plan::Group> groups, std::uint32_t max_object);

// The calling thread's heap, or nullptr: it has made no grouped allocation yet.
// (__thread, not thread_local: the compiler then knows that no constructor has to run first.)
extern __thread ThreadHeap* current_heap __attribute__((tls_model("initial-exec")));

// Gives the calling thread a heap: one that an ended thread left, or a new one. nullptr when memory
// is refused.
ThreadHeap* adopt_thread_heap();

// Gives a thread heap up as its thread ends. Its blocks stay valid; whoever adopts the heap goes on
// serving from it.
void abandon_thread_heap(void* heap);

inline ThreadHeap* thread_heap() {
  ThreadHeap* heap = current_heap;
  return heap != nullptr ? heap : adopt_thread_heap();
}

// Makes the calling thread's heap, and room for what it is going to be made of: later there may be
// no address space left.
void prepare_heap();

// The first of all heaps ever made.
const ThreadHeap* first_thread_heap();

// What a group's memory was when it was largest, as far as seen when it grew by a step. Kept only
// once `watch_growth` was called.
struct Peak {
  std::atomic<std::uint64_t> resident;   // bytes of pages
  std::atomic<std::uint64_t> live;       // bytes of blocks, then
  std::atomic<std::uint64_t> last_live;  // the same, at the last look
  std::atomic<std::uint64_t> most_live;
};
void watch_growth();
// Called as a heap of the group is about to take more pages.
void observe_growth(std::uint32_t group);
const Peak* peak_of(std::uint32_t group);  // nullptr: not kept

}  // namespace halo::runtime
