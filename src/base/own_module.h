// Whether an address lies in the library or program that this is compiled into. No look-up: such
// questions are asked in signal handlers and under the linker's locks.
#pragma once

#include <cstdint>

// Bounds of the module, defined by the linker.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];
extern "C" __attribute__((visibility("hidden"))) const char _end[];

namespace halo {

inline bool is_in_own_module(const void* address) {
  const auto begin = reinterpret_cast<uintptr_t>(__ehdr_start);
  const auto end = reinterpret_cast<uintptr_t>(_end);
  return reinterpret_cast<uintptr_t>(address) - begin < end - begin;
}

}  // namespace halo
