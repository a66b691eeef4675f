// Blocks that the runtime has served, of whatever kind, for functions beside malloc's family.
#pragma once

#include <cstddef>

#include "base/bootstrap.h"
#include "runtime/extra.h"
#include "runtime/pages/arena.h"
#include "runtime/serve/grouped.h"
#include "runtime/serve/requests.h"

namespace halo::runtime {

// Whether the block is of a group, a span, or from the time before the next allocator was known.
// False for null.
inline bool is_served(const void* p) {
  return arena.contains(p) || is_span(p) || bootstrap_contains(p);
}

// The functions below must be called only for those.

inline bool is_aligned(const void* p, size_t alignment) {
  return reinterpret_cast<uintptr_t>(p) % alignment == 0;
}

// Whether a reallocation to `size` bytes with that alignment, a power of two, leaves it where it
// is.
inline bool served_stays(const void* p, size_t size, size_t alignment) {
  return is_aligned(p, alignment) &&
         stays_in_place(p, usable_size(p), size, [=] { return alignment; });
}

// Moves it to `moved`, which has `size` bytes, and returns that. If `moved` is null, the block
// stays as it is.
inline void* move_served(void* p, void* moved, size_t size) {
  if (moved == nullptr) return nullptr;
  copy_block(moved, size, p, usable_size(p));
  release(p);
  return moved;
}

}  // namespace halo::runtime
