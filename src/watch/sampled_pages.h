// Which pages of an object are sampled (NightWatch, sections 5.1 and 6.3).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace halo::watch {

// A generator of 64 random bits (splitmix64: Steele, Lea, Flood, OOPSLA 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
  }

 private:
  uint64_t state_;
};

// How many of `pages` pages are sampled: pages to the power of `exponent` (0 to 1), rounded up.
inline uint64_t sample_count(uint64_t pages, double exponent) {
  const double count = std::ceil(std::pow(static_cast<double>(pages), exponent) - 1e-9);
  return std::clamp<uint64_t>(static_cast<uint64_t>(count), pages == 0 ? 0 : 1, pages);
}

// Calls visit(page) for one random page in each of `count` parts of 0 to pages - 1 that are as
// equal as possible, ascending.
template <class Visit>
void for_each_sampled(uint64_t pages, uint64_t count, Random& random, const Visit& visit) {
  for (uint64_t part = 0; part < count; ++part) {
    const uint64_t first = pages * part / count;
    const uint64_t end = pages * (part + 1) / count;
    visit(first + random.next() % (end - first));
  }
}

}  // namespace halo::watch
