// What all wrappers share.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "record/guest/next_allocator.h"
#include "record/guest/report.h"

#define HALO_EXPORT extern "C" __attribute__((visibility("default")))

// The stack slot that holds the return address of the call into this wrapper. Only meaningful in
// the exported function itself, hence a macro.
#define HALO_RETURN_SLOT (reinterpret_cast<uint64_t>(__builtin_dwarf_cfa()) - sizeof(void*))

namespace halo::record::guest {

inline void give_back(void* address) {
  if (from_bootstrap(address)) return;
  const NextAllocator* next = next_allocator();
  if (next == nullptr) return;
  report_free(address);
  next->free(address);
}

inline void* take_aligned(size_t alignment, size_t size) {
  const NextAllocator* next = next_allocator();
  if (next == nullptr) return bootstrap_allocate(size, alignment);
  if (next->memalign != nullptr) return next->memalign(alignment, size);
  errno = ENOMEM;
  return nullptr;
}

}  // namespace halo::record::guest
