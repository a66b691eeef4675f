// The pages of all heaps of a process: one range of addresses that grows in place.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/ranges/growing_range.h"
#include "tidy/page.h"

namespace halo::tidy {

class SharedHeap;

// Concurrency. `open` runs once, before any other use. A page is free, or it belongs to one heap
// from `acquire` to `release`; only that heap uses its entry, inside its lock. Other threads read
// `heap` of a page in which they have a block, so it cannot be released meanwhile. Free pages are a
// stack: its head has the number of the first one, plus one, in the low half, and in the high half
// a count of the changes, so that a page that was taken and put back in between is noticed.
class PageMemory {
 public:
  // Reserves the range and its table. False if memory is refused.
  bool open();

  bool contains(const void* p) const { return contains(place_of(p)); }
  bool contains(Place place) const {
    return place < Place{count_.load(std::memory_order_relaxed)} * kPageBytes;
  }
  Place place_of(const void* p) const {
    return reinterpret_cast<uintptr_t>(p) - base_.load(std::memory_order_relaxed);
  }
  void* address_of(Place place) const {
    return reinterpret_cast<void*>(base_.load(std::memory_order_relaxed) + place);
  }

  // A page for `heap`, or kNone if memory is refused. Lock-free.
  uint32_t acquire(SharedHeap* heap);
  // It may be purged; `all`: its heap ends, so few pages are kept. Lock-free.
  void release(uint32_t page, bool all);

  // What its heap keeps of a page.
  Page<Untraced>*& page(uint32_t number) { return entries_[number].page; }
  // The heap of the block at `p`, which must be in the range; nullptr if its page is free.
  SharedHeap* heap_of(const void* p) const { return heap_of(place_of(p)); }
  SharedHeap* heap_of(Place place) const {
    return entries_[place / kPageBytes].heap.load(std::memory_order_acquire);
  }

 private:
  struct Entry {
    Page<Untraced>* page;
    std::atomic<SharedHeap*> heap;
    uint32_t next;  // below it in the stack of free pages, plus one; 0: none
    bool dirty;     // it may be in memory
  };

  uint32_t pop();
  void push(uint32_t page);
  uint32_t add();
  bool open_entries(uint32_t page);
  bool has_many_dirty(bool all);

  std::atomic<uintptr_t> base_{0};
  uint32_t max_pages_ = 0;  // pages that the table has entries for
  Entry* entries_ = nullptr;
  uint64_t table_bytes_ = 0;             // that are mapped; open() alone writes it
  std::atomic<uint64_t> open_bytes_{0};  // of the table: of pages that were ever used
  std::atomic<uint32_t> count_{0};       // pages that were ever used
  std::atomic<uint64_t> free_{0};
  std::atomic<uint32_t> used_{0}, dirty_{0};  // statistics: of heaps, and free ones in memory
  ranges::GrowingRange range_;
};

extern constinit PageMemory page_memory;

}  // namespace halo::tidy
