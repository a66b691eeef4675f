// Reads a value of a width that is known at run time only.
#pragma once

#include <cstdint>
#include <cstring>

namespace halo {

// The 1, 2, 4 or 8 bytes at `from`, zero-extended. Without a call of memcpy.
inline std::uint64_t load_bytes(const void* from, unsigned bytes) {
  const auto as = [from]<class T>(T value) {
    std::memcpy(&value, from, sizeof value);
    return std::uint64_t{value};
  };
  switch (bytes) {
    case 1:
      return as(std::uint8_t{});
    case 2:
      return as(std::uint16_t{});
    case 4:
      return as(std::uint32_t{});
    default:
      return as(std::uint64_t{});
  }
}

}  // namespace halo
