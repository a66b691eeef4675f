// The freed blocks of one size class, of one group in one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/base/diagnosis.h"
#include "runtime/heap/mixed_range.h"
#include "runtime/pages/free_block.h"
#include "runtime/pages/page_queue.h"

namespace halo::runtime {

// The address that ends a list.
inline uintptr_t list_end() { return arena.base() + 1; }

// Most allocations are served from it, and most frees only push to it. It is linked through the
// blocks, newest first, whatever their pages are. If it is full, it becomes the older list, whose
// blocks are returned to their pages; if it is empty, the older list takes its place. So a list of
// constant size need not be searched for its end. (Bonwick and Adams, "Magazines and Vmem", section
// 3.1: a processor's loaded and previous magazine.)
//
// A block whose link was overwritten ends its list: those behind it are lost, and their pages never
// released. A block that was freed twice, with a write to it in between, may be in two places. Only
// one of them still has its link, and the other ends there.
//
// Concurrency: only the owner's thread changes it, and only while inside its heap (thread_heap.h).
// Other threads read its numbers for statistics.
struct FreeList {
  uintptr_t newest;  // odd: the list is empty
  uint32_t room;     // frees until it is full
  uint32_t block;    // bytes of each block
  // The page whose run serves if the list is empty: the serving page, or `no_page` while there is
  // an older list.
  Page* unused;
  uintptr_t older;       // the older list; odd: there is none
  uint16_t older_count;  // blocks in it
  uint16_t full;         // blocks of the list if it is full; more than `half` if a page gave more
  uint16_t half;         // blocks of a usual full list
  // Blocks returned to pages since both lists were empty, or 0xFFFF. Halved each time that the
  // older one serves again.
  uint16_t returned;
  uint32_t out;      // blocks of single-size pages that are not in their page's list
  PageLink serving;  // the single-size page with unused blocks; 0: none
  PageQueue pages;   // single-size pages with free blocks
  FreeList* next;    // another list of the heap

  // Blocks in both lists.
  uint32_t count() const {
    const uint32_t room_now = __atomic_load_n(&room, __ATOMIC_RELAXED);
    const uint32_t full_now = __atomic_load_n(&full, __ATOMIC_RELAXED);
    return full_now - std::min(room_now, full_now) +
           __atomic_load_n(&older_count, __ATOMIC_RELAXED);
  }

  bool has_older() const { return older % 2 == 0; }
  Page& serving_page() const { return arena.page_of(serving); }

  // Replaces the empty list by the older one. A block must be taken from it before any is freed.
  void take_older() {
    newest = older;
    returned /= 2;
    full = std::max(half, older_count);
    room = full - uint32_t{older_count};
    set_older(list_end(), 0);
  }
  void set_older(uintptr_t list, uint32_t count) {
    older = list;
    older_count = static_cast<uint16_t>(count);
    update_unused();
  }
  void serve_from(PageLink page) {
    __atomic_store_n(&serving, page, __ATOMIC_RELAXED);
    update_unused();
  }
  void update_unused();
  // Makes the list empty.
  void clear() {
    newest = list_end();
    room = full = half;
  }
  void count_returned(uint32_t blocks) {
    returned = static_cast<uint16_t>(std::min(returned + blocks, 0xFFFFu));
  }
};
static_assert(sizeof(FreeList) == 64);

// Stands for size classes that the heap has not served yet: empty, and without room. Never written.
extern constinit FreeList no_list;
// A page without unused blocks. Never written.
extern constinit Page no_page;

inline void FreeList::update_unused() {
  unused = serving == 0 || has_older() ? &no_page : &serving_page();
}

inline char* run_next_of(const Page& page) {
  return __atomic_load_n(&page.equal.run_next, __ATOMIC_RELAXED);
}
inline void set_run_next(Page& page, char* p) {
  __atomic_store_n(&page.equal.run_next, p, __ATOMIC_RELAXED);
}

// Takes the next block of the page's run; nullptr if none is left. The owner only, inside its heap.
[[gnu::always_inline]] inline void* take_unused(Page& page) {
  if (page.equal.run_left == 0) return nullptr;
  --page.equal.run_left;
  char* const p = run_next_of(page);
  set_run_next(page, p + size_t{page.equal.step} * kGranule);
  __builtin_prefetch(p + kPrefetched, 1);
  reinterpret_cast<Block*>(p)->clear();
  return p;
}

// Takes the newest block, or an unused one if there is none; nullptr if neither is there, or that
// block's link was overwritten. The owner only, inside its heap.
[[gnu::always_inline]] inline void* take_listed(FreeList& list) {
  const uintptr_t newest = list.newest;
  if (newest % 2 != 0) return take_unused(*list.unused);
  auto* const block = reinterpret_cast<Block*>(newest);
  const uintptr_t step = block->step();
  if (Block::is_bad(step)) [[unlikely]]
    return nullptr;
  list.newest = block->behind(step);
  ++list.room;
  block->clear();
  return block;
}

// Pushes a block in use. Returns true if the list is full now: GroupHeap::spill. The owner only,
// inside its heap.
[[gnu::always_inline]] inline bool put_listed(FreeList& list, void* p) {
  static_cast<Block*>(p)->link(list.newest);
  list.newest = reinterpret_cast<uintptr_t>(p);
  return --list.room == 0;
}

}  // namespace halo::runtime
