// Allocates and frees blocks of group heaps as the runtime itself does.
#pragma once

#include "runtime/heap/group_heap.h"
#include "runtime/heap/thread_heap.h"

namespace halo::runtime {

// Of `bytes`, a multiple of 8; nullptr if memory is refused.
inline char* make_block(uint32_t group, uint32_t bytes) {
  ThreadHeap* heaps = thread_heap();
  const InsideHeap inside(heaps);
  return static_cast<char*>(heaps->own_heap_of(group)->allocate(bytes));
}

inline void free_block(void* p) {
  Page& page = arena.page_of(p);
  const ThreadHeap* owner = page.thread.load();
  if (owner == nullptr) return;
  ThreadHeap* const heaps = current_heap;
  if (owner != heaps) return const_cast<ThreadHeap*>(owner)->free_remotely(page, p);
  const InsideHeap inside(heaps);
  page.heap->deallocate(page, p);
}

inline size_t size_of_block(const void* p) { return GroupHeap::size_of(arena.page_of(p), p); }

// The calling thread's heap, with empty lists.
inline GroupHeap& flushed_heap(uint32_t group) {
  ThreadHeap* heaps = thread_heap();
  const InsideHeap inside(heaps);
  GroupHeap* heap = heaps->own_heap_of(group);
  while (heaps->drain_remote()) {
  }
  heap->flush();
  return *heap;
}

}  // namespace halo::runtime
