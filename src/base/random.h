// Random numbers that depend on a seed only (splitmix64; Steele, Lea and Flood, OOPSLA 2014).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace halo::base {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // A uniform whole number below `bound`, with an error of 2^-64 × bound.
  uint64_t below(uint64_t bound) { return static_cast<uint64_t>((Wide{next()} * bound) >> 64); }

  // A uniform random order (Fisher and Yates).
  template <class Element>
  void shuffle(Element* first, size_t size) {
    for (size_t i = size; i > 1; --i) std::swap(first[i - 1], first[below(i)]);
  }

 private:
  __extension__ using Wide = unsigned __int128;

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

}  // namespace halo::base
