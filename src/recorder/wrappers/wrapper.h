// Shared definitions of all wrappers.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "recorder/wrappers/listener.h"
#include "recorder/wrappers/next_allocator.h"

#define HALO_EXPORT extern "C" __attribute__((visibility("default")))

// The stack slot of the return address of the call into this wrapper. It is valid in the exported
// function itself only, hence a macro.
#define HALO_RETURN_SLOT (reinterpret_cast<uint64_t>(__builtin_dwarf_cfa()) - sizeof(void*))

namespace halo::interpose {

inline void free_next(void* address) {
  if (bootstrap_contains(address)) return;
  const NextFunctions* next = next_allocator();
  if (next == nullptr) return;
  report_free(address);
  next->free(address);
}

inline void* take_aligned(size_t alignment, size_t size) {
  const NextFunctions* next = next_allocator();
  if (next == nullptr) return bootstrap_allocate(size, alignment);
  if (next->memalign != nullptr) return next->memalign(alignment, size);
  errno = ENOMEM;
  return nullptr;
}

}  // namespace halo::interpose
