// The fast path of free.
#pragma once

#include "runtime/base/diagnosis.h"
#include "runtime/heap/thread_heap.h"

namespace halo::runtime {

// Spills the list in which `p` was freed, of the heap that the thread is inside of, and leaves
// that.
void spill_and_leave(FreeList& list, const void* p, ThreadHeap* heap);

// The list for the used block `p` of that mixed-size page if the fast path finds it, else
// `no_list`.
[[gnu::always_inline]] inline FreeList& list_for_freed(const Page& page, const void* p) {
  const uint64_t behind = arena.granules_behind(p);
  if (behind < kMaxDirect / kGranule) [[likely]]
    return *page.mixed.lists[behind];
  return behind < kPageSize / kGranule ? *page.mixed.lists[kClassNumbers.of[behind + 1]] : no_list;
}

// Frees `p`, which may be a block of that page. Calls `otherwise` if more than the fast path is
// needed.
[[gnu::always_inline]] inline void free_in_page(Page& page, void* p, void (*otherwise)(void*)) {
  ThreadHeap* const heap = current_heap;
  if (kCheckingBuild || page.thread.load(std::memory_order_relaxed) != heap) [[unlikely]]
    return otherwise(p);
  FreeList* list = page.list;
  // If neither has a heap, the page has no list, and no used blocks.
  if (list == nullptr) {
    if (!arena.is_used(p)) [[unlikely]]
      return otherwise(p);
    list = &list_for_freed(page, p);
    // Does not read the block, which may have left the processor's caches.
    if (list->room == 0 || list->newest == reinterpret_cast<uintptr_t>(p)) [[unlikely]]
      return otherwise(p);
  } else if (static_cast<const Block*>(p)->is_linked()) [[unlikely]] {
    return otherwise(p);
  }
  enter_heap();
  if (put_listed(*list, p)) [[unlikely]]
    return spill_and_leave(*list, p, heap);
  leave_heap(heap);
}

}  // namespace halo::runtime
