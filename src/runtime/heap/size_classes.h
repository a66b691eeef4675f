// The size classes of groups: multiples of 8 up to 256 bytes, then sixteen steps per power of two,
// so at most a sixteenth is wasted.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "plan/format.h"
#include "runtime/pages/page.h"

namespace halo::runtime {

// The block size for `bytes`, a multiple of 8.
constexpr uint32_t size_class(uint32_t bytes) {
  if (bytes <= 256) return bytes;
  const uint32_t step = std::bit_floor(bytes - 1) / 16;
  return (bytes + step - 1) & ~(step - 1);
}

// The class number of each size, indexed by granules.
struct ClassNumbers {
  std::array<uint8_t, plan::kMaxObjectLimit / kGranule + 1> of{};
  unsigned count = 0;

  constexpr ClassNumbers() {
    uint32_t last = 0;
    for (uint32_t bytes = kGranule; bytes <= plan::kMaxObjectLimit; bytes += kGranule) {
      if (size_class(bytes) != last) ++count;
      last = size_class(bytes);
      of[bytes / kGranule] = static_cast<uint8_t>(count - 1);
    }
  }
};
inline constexpr ClassNumbers kClassNumbers;
static_assert(kClassNumbers.count == 160);

// Up to this size, the class of n granules is number n - 1.
inline constexpr size_t kMaxDirect = 256;
static_assert(kClassNumbers.of[kMaxDirect / kGranule] == kMaxDirect / kGranule - 1);

constexpr unsigned class_number(size_t bytes) { return kClassNumbers.of[bytes / kGranule]; }

}  // namespace halo::runtime
