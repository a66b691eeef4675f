// zlib's CRC-32 (polynomial 0xEDB88320).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace halo::base {

constexpr std::array<uint32_t, 256> make_crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  return table;
}

// `before` is the checksum of the bytes before these, if there are any.
inline uint32_t crc32(std::span<const std::byte> bytes, uint32_t before = 0) {
  static constexpr auto kTable = make_crc_table();
  uint32_t c = ~before;
  for (const std::byte b : bytes) c = kTable[(c ^ std::to_integer<uint32_t>(b)) & 0xFF] ^ (c >> 8);
  return ~c;
}

}  // namespace halo::base
