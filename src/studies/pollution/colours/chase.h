// The time of a load whose address the one before it has loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "studies/pollution/colours/page_frames.h"

namespace halo::colours {

inline constexpr size_t kLineBytes = 64;

// Links all lines of these pages to a cycle in random order.
void link_lines(const ResidentPages& pages, const std::vector<size_t>& chosen, uint64_t seed);

// Nanoseconds of each of `loads` loads along the cycle through the first line of `page`.
double chase(const ResidentPages& pages, size_t page, size_t loads);

}  // namespace halo::colours
