// The size classes of the detector: one per byte up to a page, and one for all larger sizes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::litter {

inline constexpr uint32_t kPageBytes = 4096;
inline constexpr uint32_t kLargerClass = kPageBytes + 1;
inline constexpr uint32_t kSizeClasses = kPageBytes + 2;

constexpr uint32_t class_of(size_t size) {
  return size <= kPageBytes ? static_cast<uint32_t>(size) : kLargerClass;
}

}  // namespace halo::litter
