// Reads a value of a width that is known at run time only.
#pragma once

#include <cstdint>

namespace halo {

// The address may be any that the kernel can read, also one that AddressSanitizer does not know.
template <class T>
[[gnu::no_sanitize_address]] inline uint64_t load_as(const void* from) {
  T value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

// The 1, 2, 4 or 8 bytes at `from`, zero-extended. Without a call of memcpy.
inline uint64_t load_bytes(const void* from, unsigned bytes) {
  switch (bytes) {
    case 1:
      return load_as<uint8_t>(from);
    case 2:
      return load_as<uint16_t>(from);
    case 4:
      return load_as<uint32_t>(from);
    default:
      return load_as<uint64_t>(from);
  }
}

}  // namespace halo
