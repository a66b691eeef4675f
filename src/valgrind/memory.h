// Memory of the tool, allocated through the core.
#pragma once

#include <cstdint>

#include "valgrind/api.h"

namespace halo::valgrind {

namespace detail {

// The result type differs between the core's releases.
inline void* pointer_of(void* memory) { return memory; }
inline void* pointer_of(SysRes result) {
  return sr_isError(result) ? nullptr : reinterpret_cast<void*>(sr_Res(result));
}

}  // namespace detail

// Zeroed memory; untouched pages take no memory. Null if it is refused.
template <class T>
T* reserve(uint64_t count) {
  return static_cast<T*>(detail::pointer_of(VG_(am_shadow_alloc)(count * sizeof(T))));
}

}  // namespace halo::valgrind
