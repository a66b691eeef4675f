// The fast paths of single-size pages.
#pragma once

#include <cstdint>

#include "runtime/base/diagnosis.h"
#include "runtime/heap/mixed_range.h"
#include "runtime/pages/free_block.h"

namespace halo::runtime {

// Such a page has a list of its freed blocks, linked through the blocks, newest first. `malloc`
// takes the newest one, else the next block of the page's run: blocks that were never used. So it
// reads one line of the page table and the block, as `free` does. `free` of a block that is in the
// list already is ignored. Other addresses that are not of a block in use are not recognised.
// (Leijen, Zorn and de Moura, "Mimalloc: Free List Sharding in Action", section 2. The links are
// encoded, and checked to stay in the page, as in section 2.6.)
//
// A page of a heap is in one of three states:
// - It serves allocations: the heap has one such page for each size class. `hidden` is -1.
// - It is in the heap's queue of that class: it has free blocks, or room. `hidden` is 0.
// - All of its blocks are in use. `hidden` is their number, less one.
// `countdown` + `hidden` is the number of blocks in use. `free` only decrements `countdown`. If
// that makes it 0, the page is unused, or was full: GroupHeap::settle releases or queues it.
//
// A link that was overwritten does not decode to an address in the page. The block is then not
// served, and neither are those behind it. The page is never released, as its count may be wrong.

// Added to the countdown of a page with an overwritten link; more than a page has blocks.
inline constexpr uint32_t kDamaged = 0x4000;

// The mark of an empty list.
inline uintptr_t no_block_of(const Page& page) {
  return reinterpret_cast<uintptr_t>(arena.memory_of(page)) + 1;
}

inline char* run_next_of(const Page& page) {
  return __atomic_load_n(&page.equal.run_next, __ATOMIC_RELAXED);
}
inline void set_run_next(Page& page, char* p) {
  __atomic_store_n(&page.equal.run_next, p, __ATOMIC_RELAXED);
}
inline uint32_t low_half(const void* p) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(p));
}

// Takes a block; nullptr if the page has none left in its list or run, or if the list's first link
// was overwritten. The owner only, inside its heap.
[[gnu::always_inline]] inline void* take_block(Page& page) {
  const uintptr_t newest = page.equal.freed;
  Block* block;
  if (newest % 2 == 0) [[likely]] {
    block = reinterpret_cast<Block*>(newest);
    const uintptr_t step = block->step_in_page();
    if (step >= kPageSize) [[unlikely]]
      return nullptr;
    page.equal.freed = newest ^ step;
  } else {
    char* const p = run_next_of(page);
    if (low_half(p) == page.equal.run_end) return nullptr;
    block = reinterpret_cast<Block*>(p);
    set_run_next(page, p + size_t{page.equal.step} * kGranule);
    __builtin_prefetch(p + kPrefetched, 1);
  }
  ++page.equal.countdown;
  block->clear();
  return block;
}

// Puts a block in use into the list. Returns true if the page must be settled. The owner only,
// inside its heap.
[[gnu::always_inline]] inline bool put_block(Page& page, void* p) {
  static_cast<Block*>(p)->link_in_page(page.equal.freed);
  page.equal.freed = reinterpret_cast<uintptr_t>(p);
  return --page.equal.countdown == 0;
}

// Stands for size classes of which the heap has no page that serves allocations. Never written.
extern constinit Page no_page;

}  // namespace halo::runtime
