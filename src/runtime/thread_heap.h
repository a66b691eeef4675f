// A thread's group heaps: made on its first grouped allocation, handed on when it ends.
//
// Of many threads each may use many groups a little, and each group heap has pages and caches of
// its own. So all threads but the first let a group's first objects share pages with those of other
// groups, where the plan has more than a few.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "plan/format.h"
#include "runtime/callers.h"
#include "runtime/group_heap.h"
#include "runtime/remote_frees.h"

namespace halo::runtime {

// Bytes of `size`, at least one, rounded up to the next multiple of `mask` + 1.
inline std::uint32_t round_block(std::size_t size, std::size_t mask) {
  return static_cast<std::uint32_t>((size + (size == 0) + mask) & ~mask);
}

// Bytes that serve `size` bytes: a multiple of 8. The block is aligned to the largest power of two
// that divides it, at most 16; `align16` forces that much.
inline std::uint32_t block_bytes(std::size_t size, bool align16) {
  return round_block(size, align16 ? 15 : granule - 1);
}

// Bytes of pages, and of blocks.
struct GroupBytes {
  std::uint64_t resident = 0, live = 0;
};

class ThreadHeap {
 public:
  // The cache that blocks for `size` bytes, 1 to `Most`, of a decided caller's group come from.
  template <std::size_t Most>
  BlockCache& cache_of(CallerCode code, std::size_t size) const {
    static_assert(sizeof *caches_ == 8);  // the group's part of a code is its offset here
    const auto* of_group = *reinterpret_cast<BlockCache* const* const*>(
        reinterpret_cast<const char*>(caches_) + (code & code_group));
    const std::size_t granules = ((size - 1) / granule | align_bit(code)) + 1;
    return *of_group[Most <= most_direct ? granules - 1 : class_numbers.of[granules]];
  }

  // Where the next `bytes` of the group are to come from: its own heap, made when it is due, or a
  // shared one. nullptr when memory is refused. The owner only, inside its heap.
  GroupHeap* heap_for(std::uint32_t group, std::uint32_t bytes);

  // The group's own, made on first use; the same.
  GroupHeap* own_heap_of(std::uint32_t group);

  // Notes an allocation of the group that a shared heap has served. The owner only.
  void count_shared(std::uint32_t group);
  // How many there were. Any thread.
  std::uint32_t shared_allocations(std::uint32_t group) const;

  // Of a group, or of a heap that groups share, which are numbered behind them; nullptr: this
  // thread has not allocated from it. Any thread.
  const GroupHeap* existing_heap(std::uint32_t group) const {
    return __atomic_load_n(&heaps()[group], __ATOMIC_ACQUIRE);
  }

  // Takes over some of what other threads freed; false where there was nothing. The owner only,
  // inside its heap.
  bool drain_remote();

  // Frees a block of this heap, from a thread that is not inside it. Lock-free.
  void free_remotely(Page& page, void* p);

  // Of this thread's part of a group.
  GroupBytes bytes_of(std::uint32_t group) const;

  // All heaps ever made, one after the other; they are never unmapped.
  const ThreadHeap* next() const { return next_; }

  // Zeroed, aligned to cache lines, and never given back; nullptr when memory is refused. The owner
  // only, inside its heap.
  void* metadata(std::size_t bytes);

 private:
  friend ThreadHeap* adopt_thread_heap();
  friend void prepare_heap();
  friend void abandon_thread_heap(void*);

  // What a group has had of shared heaps in this thread.
  struct Shared {
    std::uint32_t bytes, allocations;
  };
  GroupHeap** heaps() const;  // by group, and of shared ones; after the caches
  Shared* shared() const;     // by group; after the heaps
  bool shares() const;
  static ThreadHeap* make();
  bool adopt();
  void leave() { owned_.store(false, std::memory_order_release); }
  // Calls `free` with the page and each block.
  template <typename Free>
  bool drain(Free free);

  std::atomic<bool> owned_;
  ThreadHeap* next_;
  char* metadata_;      // what is left of the last mapping
  char* metadata_end_;  // and its end
  RemoteFrees remote_;
  BlockCache** caches_[1];  // by group, or shared heap, and size class
};

// Heaps that groups share: one for each way to lay out pages and to reuse blocks.
inline constexpr std::uint32_t shared_heaps = 4;

// Whether that is the number of a shared heap, not of a group.
bool is_shared_heap(std::uint32_t number);

// Before the first grouped allocation.
void configure_heaps(std::span<const plan::Group> groups, std::uint32_t max_object);

// The calling thread's heap while the thread is outside it; nullptr: it has none, or a signal
// handler has interrupted the thread inside. (__thread, not thread_local: the compiler then knows
// that no constructor has to run first.)
extern __thread ThreadHeap* current_heap __attribute__((tls_model("initial-exec")));

// Inside its heap, a thread changes what no signal handler may find half changed: what handlers
// allocate meanwhile is forwarded, and what they free goes the way of other threads' frees.
inline void enter_heap() {
  current_heap = nullptr;
  asm volatile("" ::: "memory");
}
inline void leave_heap(ThreadHeap* heap) {
  asm volatile("" ::: "memory");
  current_heap = heap;
}

class InsideHeap {
 public:
  explicit InsideHeap(ThreadHeap* heap) : heap_(heap) { enter_heap(); }
  ~InsideHeap() { leave_heap(heap_); }
  InsideHeap(const InsideHeap&) = delete;
  InsideHeap& operator=(const InsideHeap&) = delete;

 private:
  ThreadHeap* heap_;
};

// Gives the calling thread a heap: one that an ended thread left, or a new one. nullptr when memory
// is refused, or the thread is inside its heap, or ends.
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

// What a group's memory was when it was largest, as far as seen when it grew. Kept only once
// `watch_growth` was called.
struct Peak {
  std::atomic<std::uint64_t> resident;   // bytes of pages
  std::atomic<std::uint64_t> live;       // bytes of blocks, then
  std::atomic<std::uint64_t> last_live;  // the same, at the last look
  std::atomic<std::uint64_t> most_live;
};
void watch_growth();
// Called as a heap of the group is about to take another page.
void observe_growth(std::uint32_t group);
const Peak* peak_of(std::uint32_t group);  // nullptr: not kept

}  // namespace halo::runtime
