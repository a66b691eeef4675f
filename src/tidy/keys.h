// Keys of cells from the elements of a hint.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace halo::tidy {

inline constexpr unsigned kMaxDimensions = 4;

// The bits of up to four elements, interleaved (Morton order): keys near each other have elements
// near each other. An element counts modulo its size, if that is not 0; of more than two elements,
// the low 64 / dimensions bits of each count.
class KeyMaker {
 public:
  KeyMaker() = default;
  // `dimensions` is 1 to 4.
  KeyMaker(unsigned dimensions, const std::array<uint32_t, kMaxDimensions>& sizes)
      : dimensions_(dimensions), sizes_(sizes) {}

  uint64_t key(const unsigned* hint) const {
    if (dimensions_ == 1) return element(hint, 0);
    uint64_t key = 0;
    for (unsigned at = 0; at < dimensions_; ++at) key |= spread(element(hint, at)) << at;
    return key;
  }

 private:
  uint32_t element(const unsigned* hint, unsigned at) const {
    return sizes_[at] == 0 ? hint[at] : hint[at] % sizes_[at];
  }

  // Puts dimensions - 1 zeroes above each bit.
  uint64_t spread(uint64_t bits) const {
    switch (dimensions_) {
      case 2:
        bits = (bits | bits << 16) & 0x0000ffff0000ffff;
        bits = (bits | bits << 8) & 0x00ff00ff00ff00ff;
        bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0f;
        bits = (bits | bits << 2) & 0x3333333333333333;
        return (bits | bits << 1) & 0x5555555555555555;
      case 3:
        bits &= 0x1fffff;
        bits = (bits | bits << 32) & 0x001f00000000ffff;
        bits = (bits | bits << 16) & 0x001f0000ff0000ff;
        bits = (bits | bits << 8) & 0x100f00f00f00f00f;
        bits = (bits | bits << 4) & 0x10c30c30c30c30c3;
        return (bits | bits << 2) & 0x1249249249249249;
      default:
        bits &= 0xffff;
        bits = (bits | bits << 24) & 0x000000ff000000ff;
        bits = (bits | bits << 12) & 0x000f000f000f000f;
        bits = (bits | bits << 6) & 0x0303030303030303;
        return (bits | bits << 3) & 0x1111111111111111;
    }
  }

  unsigned dimensions_ = 1;
  std::array<uint32_t, kMaxDimensions> sizes_{};
};

}  // namespace halo::tidy
