// Exact miss rates of the last-level cache by page, object and allocation context (NightWatch,
// sections 2.2 and 3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "objects/allocation.h"

namespace halo::locality {

inline constexpr uint64_t kPageBytes = 4096;

// Accesses of the last level, and its misses.
struct Rate {
  uint32_t accesses = 0;
  uint32_t misses = 0;

  void count(bool missed) {
    ++accesses;
    misses += missed;
  }
  double value() const { return accesses == 0 ? 0 : double(misses) / accesses; }
};

// Counts of values from 0 to 1 in ten steps; 1 is in the last one.
class Histogram {
 public:
  static constexpr size_t kSteps = 10;

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

  void allocate(const objects::Allocation& one);
  void free(uint64_t number);
  void count(uint64_t number, uint32_t offset, bool missed);
  // All live objects end.
  void finish();

  // Objects by their miss rate (figure 3).
  const Histogram& objects() const { return objects_; }
  // Pages by the difference between their rate and that of their object, of those with several
  // pages (figure 5), in tenths of the difference 1; and how many differ by at most a tenth.
  const Histogram& differences() const { return differences_; }
  uint64_t pages() const { return pages_; }
  uint64_t near_pages() const { return near_pages_; }

  struct Context {
    uint64_t allocations = 0;
    uint64_t rated = 0;  // objects
    double sum = 0;      // of their rates
    double squares = 0;

    double variance() const;
  };
  // By context (figures 7 and 8).
  const std::vector<Context>& contexts() const { return contexts_; }

 private:
  struct Object {
    uint32_t context = 0;
    Rate rate;
    std::vector<Rate> pages;  // up to the last one with accesses; empty if it has one page
    bool has_pages = false;
  };

  void end(const Object& object);

  std::unordered_map<uint64_t, Object> live_;  // by number
  Histogram objects_, differences_;
  uint64_t pages_ = 0, near_pages_ = 0;
  std::vector<Context> contexts_;
};

}  // namespace halo::locality
