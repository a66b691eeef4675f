// The size classes of the detector: one per byte up to a page, and one for all larger sizes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::litter {

inline constexpr uint32_t page_bytes = 4096;
inline constexpr uint32_t larger_class = page_bytes + 1;
inline constexpr uint32_t size_classes = page_bytes + 2;

constexpr uint32_t class_of(size_t size) {
  return size <= page_bytes ? static_cast<uint32_t>(size) : larger_class;
}

}  // namespace halo::litter
