// A thread's group heaps: created on its first grouped allocation, adopted by another thread after
// it ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "plan/format.h"
#include "runtime/heap/group_code.h"
#include "runtime/heap/group_heap.h"
#include "runtime/heap/remote_frees.h"

namespace halo::runtime {

// Rounds `size`, at least one, up to a multiple of `mask` + 1.
inline uint32_t round_block(size_t size, size_t mask) {
  return static_cast<uint32_t>((size + (size == 0) + mask) & ~mask);
}

// The block size for `size` bytes: a multiple of 8. A block is aligned to the largest power of two
// that divides its size, at most 16; `align16` makes it a multiple of 16.
inline uint32_t block_bytes(size_t size, bool align16) {
  return round_block(size, align16 ? 15 : kGranule - 1);
}

// Bytes of pages, and of blocks.
struct GroupBytes {
  uint64_t resident = 0, live = 0;
};

// In programs with many threads, each may use many groups a little, and each group heap has its own
// pages and lists. So if the plan has more than a few groups, all threads but the first let a
// group's first objects share pages with other groups.
//
// Concurrency. A thread owns a heap through `owned_`: it is set by a CAS (acquire) and cleared by a
// store (release), so each owner sees all changes of the previous one. Heaps are prepended to a
// global list (release) and never unmapped. Other threads reach a heap only through `free_remotely`
// and through the statistics. The statistics load the group heap pointers with acquire, and
// counters relaxed.
class ThreadHeap {
 public:
  // The number of the class that serves `size` bytes, 1 to MaxBytes, for a caller with a decided
  // code.
  template <size_t MaxBytes>
  static size_t class_of(CallerCode code, size_t size) {
    const size_t granules = ((size - 1) / kGranule | align_bit(code)) + 1;
    return MaxBytes <= kMaxDirect ? granules - 1 : kClassNumbers.of[granules];
  }

  // The list of this class of the code's group, or `no_list`.
  FreeList& list_of(CallerCode code, size_t class_number) const {
    return *list_table(code)[class_number];
  }

  // The heap that serves the next `bytes` of the group: its own, created when it is due, or a
  // shared one. Returns nullptr if memory is refused, or if the group steps. The owner only, inside
  // its heap.
  GroupHeap* heap_for(uint32_t group, uint32_t bytes);

  // The group's own heap, created on first use. Otherwise as heap_for.
  GroupHeap* own_heap_of(uint32_t group);

  // A block from the heap of all groups that step; nullptr if the group does not, or as
  // SteppingHeap::allocate. The owner only, inside its heap.
  void* allocate_stepping(uint32_t group, uint32_t bytes);

  // Counts an allocation of the group from a shared heap. The owner only.
  void count_shared(uint32_t group);
  // The number of these allocations. Any thread.
  uint32_t shared_allocations(uint32_t group) const;

  // The heap of a group, or a shared heap, whose numbers follow those of the groups. nullptr if
  // this thread has not allocated from it. Any thread.
  const GroupHeap* existing_heap(uint32_t group) const {
    return __atomic_load_n(&heaps()[group], __ATOMIC_ACQUIRE);
  }

  // The group's own heap; nullptr if this thread has none. The owner only.
  GroupHeap* own_heap(uint32_t group) const { return heaps()[group]; }

  // Collects some of the remote frees. Returns false if there were none. The owner only, inside its
  // heap.
  bool drain_remote();

  // Frees a block of this heap from a thread that is not inside it. Lock-free.
  void free_remotely(Page& page, void* p);

  // Bytes of this thread's part of a group. Any thread.
  GroupBytes bytes_of(uint32_t group) const;
  // Bytes of all groups and shared heaps, without the blocks that others have freed. Any thread.
  GroupBytes bytes() const;

  // Returns the blocks of lists to their pages, and collects all remote frees. The owner only,
  // inside its heap.
  void flush();

  // The next heap in the list of all heaps.
  const ThreadHeap* next() const { return next_; }

  // Memory that is zeroed, aligned to cache lines and never freed; nullptr if memory is refused.
  // The owner only, inside its heap.
  void* metadata(size_t bytes);

 private:
  friend ThreadHeap* adopt_thread_heap();
  friend void prepare_heap();
  friend void abandon_thread_heap(void*);

  FreeList* const* list_table(CallerCode code) const {
    static_assert(sizeof *tables_ == 8);  // the group's bits of a code are its byte offset
    return *reinterpret_cast<FreeList* const* const*>(reinterpret_cast<const char*>(tables_) +
                                                      (code & kCodeGroup));
  }
  // Counts of a group's allocations from shared heaps in this thread.
  struct Shared {
    uint32_t bytes, allocations;
  };
  GroupHeap** heaps() const;  // by group, then the shared ones; behind `tables_`
  Shared* shared() const;     // by group; behind the heaps
  bool shares() const;
  static ThreadHeap* make();
  bool adopt();
  void leave() { owned_.store(false, std::memory_order_release); }
  // Calls `free` with the page and the block for each collected block.
  template <typename Free>
  bool drain(Free free);

  std::atomic<bool> owned_;
  ThreadHeap* next_;
  char* metadata_;      // rest of the last mapping
  char* metadata_end_;  // and its end
  RemoteFrees remote_;
  void* tables_[1];  // by group or shared heap: the lists by size class
};

// One shared heap for each combination of page layout and reuse.
inline constexpr uint32_t kSharedHeaps = 4;

// Whether `number` is that of a shared heap, not of a group.
bool is_shared_heap(uint32_t number);

// Whether the group's blocks come from the heap of all groups that step, so that no thread has a
// heap of the group.
bool steps(uint32_t group);

// Must run before the first grouped allocation.
void configure_heaps(std::span<const plan::Group> groups, uint32_t max_object);

// The calling thread's heap while the thread is outside it. nullptr if it has none, or if a signal
// handler has interrupted the thread inside. It is __thread, not thread_local: the compiler then
// omits the check for a constructor.
extern __thread ThreadHeap* current_heap __attribute__((tls_model("initial-exec")));

// A thread inside its heap changes state that a signal handler must not use. Allocations of a
// handler are forwarded meanwhile, and its frees are remote frees.
// std::atomic_signal_fence would do, but gcc makes the fast paths longer by a branch with it.
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

// Assigns the calling thread a heap: an abandoned one, or a new one. nullptr if memory is refused,
// or if the thread is inside its heap or has ended its heap's use.
ThreadHeap* adopt_thread_heap();

// Abandons the heap of an ending thread. Its blocks stay valid, and a thread that adopts the heap
// goes on serving from it.
void abandon_thread_heap(void* heap);

inline ThreadHeap* thread_heap() {
  ThreadHeap* heap = current_heap;
  return heap != nullptr ? heap : adopt_thread_heap();
}

// Creates the calling thread's heap and maps its first metadata: address space may run out later.
void prepare_heap();

// The head of the list of all heaps.
const ThreadHeap* first_thread_heap();

// A group's memory at its largest, sampled whenever the group grows. Kept only after a call of
// `watch_growth`. Relaxed atomics; concurrent updates may lose a sample.
struct Peak {
  std::atomic<uint64_t> resident;   // bytes of pages at the largest sample
  std::atomic<uint64_t> live;       // bytes of blocks at that sample
  std::atomic<uint64_t> last_live;  // bytes of blocks at the last sample
  std::atomic<uint64_t> max_live;
};
void watch_growth();
// Called before a heap of the group takes another page.
void observe_growth(uint32_t group);
const Peak* peak_of(uint32_t group);  // nullptr: not kept

}  // namespace halo::runtime
