// Memory for the heaps' own data.
#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace halo::runtime {

// Zeroed memory of whole system pages; nullptr if it is refused. May change errno.
inline void* map_metadata(size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

}  // namespace halo::runtime
