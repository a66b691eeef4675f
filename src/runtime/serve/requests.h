// calloc and realloc of groups, for every way to choose the group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/base/next.h"
#include "runtime/extra.h"
#include "runtime/serve/grouped.h"

namespace halo::runtime {

// Whether calloc also clears what its block has behind the requested size: functions of the next
// allocator that resize zeroed blocks rely on it. Set at the start, if at all.
HALO_HIDDEN extern constinit bool clearing_whole_blocks;

// calloc by `allocate`, which returns a block of a group or nullptr; nullptr: forward.
template <typename Allocate>
[[gnu::always_inline]] inline void* calloc_in_group(size_t count, size_t size,
                                                    Allocate&& allocate) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > max_object) return nullptr;
  void* p = allocate(bytes);
  if (p == nullptr) return nullptr;
  return std::memset(p, 0, clearing_whole_blocks ? usable_size_grouped(p) : bytes);
}

// calloc of a span, which needs no clearing if it was never used.
inline void* cleared(const Span& span, size_t size) {
  if (span.p == nullptr || span.is_zero) return span.p;
  return std::memset(span.p, 0, clearing_whole_blocks ? usable_size_of_span(span.p) : size);
}

// Copies the smaller of `old_bytes` and `size` bytes into `moved`, and returns `moved`.
inline void* copy_block(void* moved, size_t size, const void* p, size_t old_bytes) {
  return std::memcpy(moved, p, old_bytes < size ? old_bytes : size);
}

// Whether realloc leaves a group's block of `old_bytes` where it is: its size is suitable, and
// blocks of its new size and call site need no stronger alignment. `alignment` returns the call
// site's.
template <typename Alignment>
[[gnu::always_inline]] inline bool stays_in_place(const void* p, size_t old_bytes, size_t size,
                                                  Alignment&& alignment) {
  const bool aligned = reinterpret_cast<uintptr_t>(p) % 16 == 0 ||
                       (block_bytes(size, false) % 16 != 0 && alignment() < 16);
  return size <= old_bytes && size * 2 >= old_bytes && aligned;
}

// realloc of a block that is in no group. It moves into one by `allocate` if the allocator that it
// came from can report how much there is to copy; else that allocator reallocates it.
template <typename Allocate>
[[gnu::always_inline]] inline void* realloc_into_group(const NextAllocator& from, void* p,
                                                       size_t size, Allocate&& allocate) {
  if (p != nullptr && (from.usable_size == nullptr || size == 0)) return from.realloc(p, size);
  void* moved = allocate(size);
  if (moved == nullptr) return from.realloc(p, size);
  if (p == nullptr) return moved;
  copy_block(moved, size, p, from.usable_size(p));
  from.free(p);
  return moved;
}

}  // namespace halo::runtime
