// Memory of the tool's own, where the core knows of it.
#pragma once

#include <cstdint>

#include "record/valgrind/api.h"

namespace halo::record::valgrind {

namespace detail {

// What the core returns differs between its releases.
inline void* pointer_of(void* memory) { return memory; }
inline void* pointer_of(SysRes result) {
  return sr_isError(result) ? nullptr : reinterpret_cast<void*>(sr_Res(result));
}

}  // namespace detail

// Zeroes, of which only what is touched takes memory. Null where there is no room.
template <class T>
T* reserve(uint64_t count) {
  return static_cast<T*>(detail::pointer_of(VG_(am_shadow_alloc)(count * sizeof(T))));
}

}  // namespace halo::record::valgrind
