// Accesses of the last level, and its misses.
#pragma once

#include <cstdint>

namespace halo::locality {

struct Rate {
  uint32_t accesses = 0;
  uint32_t misses = 0;

  void count(bool missed) {
    ++accesses;
    misses += missed;
  }
  double value() const { return accesses == 0 ? 0 : double(misses) / accesses; }

  Rate& operator+=(const Rate& other) {
    accesses += other.accesses;
    misses += other.misses;
    return *this;
  }
};

}  // namespace halo::locality
