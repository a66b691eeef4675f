// Memory of the tool.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstdint>

#include "base/system_call.h"
#include "recorder/valgrind/api.h"

namespace halo::valgrind {

namespace detail {

// The result type differs between the core's releases.
inline void* pointer_of(void* memory) { return memory; }
inline void* pointer_of(SysRes result) {
  return sr_isError(result) ? nullptr : reinterpret_cast<void*>(sr_Res(result));
}

}  // namespace detail

// Zeroed memory, allocated through the core; untouched pages take no memory. Null if it is refused.
template <class T>
T* reserve(uint64_t count) {
  return static_cast<T*>(detail::pointer_of(VG_(am_shadow_alloc)(count * sizeof(T))));
}

// The same from the kernel, for memory that may exceed what the core sets aside for itself (64 GiB
// in all). The kernel places it above all that the core manages.
template <class T>
T* reserve_outside(uint64_t count) {
  const int64_t made = system_call(SYS_mmap, 0, count * sizeof(T), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, uint64_t(-1), 0);
  return made < 0 ? nullptr : reinterpret_cast<T*>(made);
}

}  // namespace halo::valgrind
