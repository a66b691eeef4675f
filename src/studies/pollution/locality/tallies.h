// Exact miss rates of the last-level cache by page, object and allocation context (NightWatch,
// sections 2.2 and 3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "recorder/objects/allocation.h"
#include "studies/pollution/locality/rate.h"
#include "studies/pollution/locality/sampling_errors.h"
#include "studies/pollution/monitor/parameters.h"

namespace halo::locality {

inline constexpr uint64_t kPageBytes = 4096;

// Counts of values from 0 to 1 in equal steps; 1 is in the last one.
template <size_t kSteps>
class Histogram {
 public:
  void add(double value) {
    const auto step = static_cast<size_t>(value * double(kSteps));
    ++counts_[step < kSteps ? step : kSteps - 1];
  }
  const std::array<uint64_t, kSteps>& counts() const { return counts_; }

 private:
  std::array<uint64_t, kSteps> counts_{};
};

// Pages are those of the object: the first one begins at its address.
class Tallies {
 public:
  // Pages and objects with fewer accesses of the last level have no rate.
  static constexpr uint32_t kMinAccesses = 8;
  // With as many, two standard errors of a rate are at most a tenth.
  static constexpr uint32_t kSureAccesses = 100;

  void allocate(const objects::Allocation& one);
  void free(uint64_t number);
  void count(uint64_t number, uint32_t offset, bool missed);
  // All live objects end.
  void finish();

  // Objects by their miss rate (figure 3).
  const Histogram<10>& objects() const { return objects_; }
  // Pages by the difference between their rate and that of their object, of those with several
  // pages (figure 5); and how many differ by at most a tenth.
  const Histogram<100>& differences() const { return differences_; }
  uint64_t pages() const { return pages_; }
  uint64_t near_pages() const { return near_pages_; }
  // Those of them with at least kSureAccesses, and how many of those differ by at most a tenth.
  uint64_t sure_pages() const { return sure_pages_; }
  uint64_t near_sure_pages() const { return near_sure_pages_; }

  struct Context {
    uint64_t allocations = 0;
    uint64_t bytes = 0;  // of all of them
    uint64_t live_bytes = 0;
    uint64_t peak_bytes = 0;  // the most that were live
    uint64_t accesses = 0;    // of the last level
    uint64_t misses = 0;
    uint64_t rated = 0;  // objects
    double sum = 0;      // of their rates
    double squares = 0;
    uint64_t pages = 0;  // of its objects, as below
    uint64_t near_pages = 0;

    double variance() const;
  };
  // By context (figures 7 and 8).
  const std::vector<Context>& contexts() const { return contexts_; }
  const SamplingErrors& sampling() const { return sampling_; }

 private:
  struct Object {
    uint32_t context = 0;
    uint32_t bytes = 0;
    Rate rate;
    std::vector<Rate> pages;  // up to the last one with accesses; empty if it has one page
  };

  void end(const Object& object);

  std::unordered_map<uint64_t, Object> live_;  // by number
  Histogram<10> objects_;
  Histogram<100> differences_;
  SamplingErrors sampling_{watch::Parameters{}.sampled_exponent, watch::Parameters{}.seed};
  uint64_t pages_ = 0, near_pages_ = 0, sure_pages_ = 0, near_sure_pages_ = 0;
  std::vector<Context> contexts_;
};

}  // namespace halo::locality
