#include "runtime/hints/freeing.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "runtime/base/next.h"
#include "tidy/page_memory.h"
#include "tidy/shared_heap.h"

namespace halo::runtime {
namespace {

using tidy::page_memory;

constinit NextAllocator behind{};  // the functions that these take the place of

void free_any(void* p) {
  const tidy::Place place = page_memory.place_of(p);
  if (!page_memory.contains(place)) return behind.free(p);
  if (tidy::SharedHeap* const heap = page_memory.heap_of(place)) heap->free(p, place);
}

void libc_free_any(void* p) {
  if (page_memory.contains(p)) return free_hinted(p);
  behind.libc_free(p);
}

std::size_t size_of(void* p) {
  tidy::SharedHeap* const heap = page_memory.heap_of(p);
  return heap == nullptr ? 0 : heap->size_of(p);
}

std::size_t usable_size_of_any(void* p) {
  if (page_memory.contains(p)) return size_of(p);
  return behind.usable_size == nullptr ? 0 : behind.usable_size(p);
}

// The object moves to the next allocator unless the size is nearly the same.
void* reallocate(void* p, std::size_t size) {
  if (size == 0) {
    free_hinted(p);
    return nullptr;
  }
  const std::size_t old = size_of(p);
  if (size <= old && size > old / 2) return p;
  void* const moved = behind.malloc(size);
  if (moved == nullptr) return size <= old ? p : nullptr;
  std::memcpy(moved, p, std::min(old, size));
  free_hinted(p);
  return moved;
}

void* realloc_any(void* p, std::size_t size) {
  return page_memory.contains(p) ? reallocate(p, size) : behind.realloc(p, size);
}

void* libc_realloc_any(void* p, std::size_t size) {
  return page_memory.contains(p) ? reallocate(p, size) : behind.libc_realloc(p, size);
}

}  // namespace

void free_hinted_blocks() {
  behind = next;
  next.set_free(free_any);
  next.realloc = realloc_any;
  next.usable_size = usable_size_of_any;
  if (behind.libc_free != nullptr) next.libc_free = libc_free_any;
  if (behind.libc_realloc != nullptr) next.libc_realloc = libc_realloc_any;
}

void free_hinted(void* p) {
  if (tidy::SharedHeap* const heap = page_memory.heap_of(p)) heap->free(p);
}

}  // namespace halo::runtime
