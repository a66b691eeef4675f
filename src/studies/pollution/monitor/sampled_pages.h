// Which pages of an object are sampled (NightWatch, sections 5.1 and 6.3).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/random.h"

namespace halo::watch {

// How many of `pages` pages are sampled: pages to the power of `exponent` (0 to 1), rounded up.
inline uint64_t sample_count(uint64_t pages, double exponent) {
  const double count = std::ceil(std::pow(static_cast<double>(pages), exponent) - 1e-9);
  return std::clamp<uint64_t>(static_cast<uint64_t>(count), pages == 0 ? 0 : 1, pages);
}

// Calls visit(page) for one random page in each of `count` parts of 0 to pages - 1 that are as
// equal as possible, ascending.
template <class Visit>
void for_each_sampled(uint64_t pages, uint64_t count, base::Random& random, const Visit& visit) {
  for (uint64_t part = 0; part < count; ++part) {
    const uint64_t first = pages * part / count;
    const uint64_t end = pages * (part + 1) / count;
    visit(first + random.below(end - first));
  }
}

}  // namespace halo::watch
