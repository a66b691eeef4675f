// How well a few pages stand for their object (NightWatch, section 6.3 and figure 13).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "studies/pollution/locality/rate.h"

namespace halo::locality {

// Objects of several pages, by their number of pages: interval i has those from 2^i to 2^(i+1) - 1.
class SamplingErrors {
 public:
  static constexpr double kMaxError = 0.05;  // of a miss rate

  struct Interval {
    uint64_t objects = 0;
    uint64_t pages = 0;   // of all of them
    uint64_t within = 0;  // objects whose error with pages^0.65 sampled pages is at most kMaxError
    uint64_t needed = 0;  // sum of the least sampled pages for that
  };

  SamplingErrors(double exponent, uint64_t seed) : exponent_(exponent), random_(seed) {}

  // An object has ended; pages beyond those in the list have no accesses.
  void add(uint64_t pages, const std::vector<Rate>& rates);

  const std::array<Interval, 32>& intervals() const { return intervals_; }

 private:
  static constexpr int kDraws = 8;  // of the pages, whose mean error counts for `needed`

  // |miss rate of `count` random pages - miss rate of all|.
  double error(uint64_t pages, const std::vector<Rate>& rates, uint64_t count, double all);
  uint64_t needed(uint64_t pages, const std::vector<Rate>& rates, double all);

  double exponent_;
  base::Random random_;
  std::array<Interval, 32> intervals_{};
};

}  // namespace halo::locality
