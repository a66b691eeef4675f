// A cell heap for several threads, none of which waits.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/single_threaded.h"
#include "tidy/cell_heap.h"
#include "tidy/page_memory.h"
#include "tidy/recent_blocks.h"

namespace halo::tidy {

class Context;

// A thread that finds the heap busy allocates elsewhere; its frees go to a list, which the next
// thread inside works off. A signal handler that interrupts a thread inside finds it busy, too.
//
// Concurrency. `busy_` is set by an exchange (acquire) and cleared by a store (release); all but
// `remote_` is used between the two only. `remote_` is a stack of freed blocks, linked through
// their first words: pushed by CAS (release), taken as a whole by an exchange (acquire).
class SharedHeap {
 public:
  SharedHeap(const Context* of, const HeapSettings& settings)
      : context(of), memory_(this), heap_(memory_, settings) {}

  // False if memory is refused. Before any other use.
  bool open() { return heap_.open(); }

  enum class Answer : uint8_t { kServed, kBusy, kRefused };
  struct Served {
    Answer answer;
    void* block = nullptr;
  };
  // A block of 1 to max_bytes() bytes; without a key if it is nullptr.
  Served allocate(const uint64_t* key, uint32_t bytes) {
    if (!enter()) return {Answer::kBusy};
    if (key != nullptr && remote_.load(std::memory_order_relaxed) == nullptr) {
      const Place place = recent_.take(*key, bytes);
      if (place != RecentBlocks::kNoPlace) {
        leave();
        return {Answer::kServed, page_memory.address_of(place)};
      }
    }
    return allocate_inside(key, bytes);
  }
  // A block in the bucket of `near`, one of its blocks, or in its cell.
  Served allocate_near(const void* near, uint32_t bytes);
  // Frees one of its blocks; ignores what is not a used block.
  void free(void* p) {
    const Place place = page_memory.place_of(p);
    if (!is_single_threaded() && owner.load(std::memory_order_relaxed) != kAllThreads) [[unlikely]]
      return free_of_thread(p, place);
    if (!enter()) [[unlikely]]
      return push_remote(p);
    if (recent_.put(place) == RecentBlocks::Freed::kUnknown) [[unlikely]]
      return free_inside(place);
    leave();
  }

  uint32_t max_bytes() const { return heap_.max_bytes(); }
  // Bytes of the used block at `p`. Without the lock: only its own thread changes them.
  uint32_t size_of(const void* p) { return heap_.size_of(page_memory.place_of(p)); }

  // Adds to the counts; false if it is busy.
  bool count(HeapCounts& counts, uint64_t& resident);

  // Before a fork: enters the heap if it becomes free soon. Afterwards, in both processes, `leave`
  // ends that. If it did not become free, the child must never use the heap: it stays busy there.
  bool enter_for_fork();
  void leave() { busy_.store(false, std::memory_order_release); }

  // Returns all pages. The heap is not used afterwards.
  void release_all() {
    ends_ = true;
    heap_.release_all();
  }

  const Context* const context;
  SharedHeap* next = nullptr;  // of the same context
  // A thread that runs, or one of these. Only its owner frees inside the heap of a thread, so that
  // others do not keep it from its heap.
  static constexpr uintptr_t kNoOwner = 0, kAllThreads = UINTPTR_MAX;
  std::atomic<uintptr_t> owner{kNoOwner};
  bool entered_for_fork = false;

 private:
  // The pages of this heap.
  class Memory {
   public:
    using Tracer = Untraced;
    explicit Memory(SharedHeap* heap) : heap_(heap) {}
    uint32_t acquire() { return page_memory.acquire(heap_); }
    void release(uint32_t page) { page_memory.release(page, heap_->ends_); }
    Page<Tracer>*& page(uint32_t number) { return page_memory.page(number); }

   private:
    SharedHeap* heap_;
  };

  // With one thread, only a signal handler can come between the load and the store, and it has left
  // the heap before the store.
  bool enter() {
    if (!is_single_threaded()) return !busy_.exchange(true, std::memory_order_acquire);
    if (busy_.load(std::memory_order_relaxed)) return false;
    busy_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_acquire);
    return true;
  }
  // These two leave the heap.
  Served allocate_inside(const uint64_t* key, uint32_t bytes);
  void free_inside(Place place);
  void free_of_thread(void* p, Place place);
  bool free_unknown(Place place);  // false if it is not a used block
  void push_remote(void* p);
  bool may_start_block(const void* p) const;  // false if it is not in a page of this heap
  void drain();

  bool ends_ = false;
  std::atomic<bool> busy_{false};
  std::atomic<void*> remote_{nullptr};
  Memory memory_;
  RecentBlocks recent_;
  CellHeap<Memory> heap_;
};

}  // namespace halo::tidy
