// The fast path of free.
#pragma once

#include "runtime/base/diagnosis.h"
#include "runtime/heap/thread_heap.h"

namespace halo::runtime {

// Settles the single-size page in which `p` was freed, of the heap that the thread is inside of,
// and leaves that.
void settle_and_leave(const void* p, ThreadHeap* heap);

// Frees `p`, which may be a block of that page. Calls `otherwise` if more than the fast path is
// needed.
[[gnu::always_inline]] inline void free_in_page(Page& page, void* p, void (*otherwise)(void*)) {
  ThreadHeap* const heap = current_heap;
  if (kCheckingBuild || page.thread.load(std::memory_order_relaxed) != heap) [[unlikely]]
    return otherwise(p);
  // If neither has a heap, the page has no used blocks, and no size.
  if (page.block == 0) {
    BlockCache* const cache = arena.is_used(p) ? cache_for_freed(page, p) : nullptr;
    if (cache == nullptr) [[unlikely]]
      return otherwise(p);
    enter_heap();
    const bool fits = cache->push_marked(p);
    leave_heap(heap);
    return fits ? void() : otherwise(p);
  }
  if (static_cast<const Block*>(p)->is_linked_in_page()) [[unlikely]]
    return otherwise(p);
  enter_heap();
  if (put_block(page, p)) [[unlikely]]
    return settle_and_leave(p, heap);
  leave_heap(heap);
}

}  // namespace halo::runtime
