// Short names for lines and pages, dense even if addresses are far apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "simulator/cache.h"
#include "simulator/machine.h"

namespace halo::simulator {

// Names regions of 2 MiB in the order of their first use, from 1 on. A block's name is its region's
// and, in the lower bits, its index in the region.
class Regions {
 public:
  static constexpr int kShift = Machine::kHugeShift;

  // The number to add to a block's number, cut to 32 bits, to get its name.
  struct Region {
    uint64_t number = UINT64_MAX;  // address over size
    uint32_t to_line = 0;
    uint32_t to_page = 0;
  };

  Regions(int line_shift, int page_shift)
      : line_bits_(kShift - line_shift), page_bits_(kShift - page_shift) {}

  const Region& of(uint64_t number) {
    const Region& cached = cached_[number % kCachedRegions];
    return cached.number == number ? cached : look_up(number);
  }

  // The line with that name.
  Block line(uint32_t name) const {
    const uint32_t within = name & ((1u << line_bits_) - 1);
    return {numbers_[name >> line_bits_] << line_bits_ | within, name};
  }

  // The number of distinct regions; later ones share the names of the first ones. 64 Ki with lines
  // of 64 bytes.
  uint32_t maximum() const { return (kEndOfNames >> line_bits_) - 1; }

 private:
  static constexpr size_t kCachedRegions = 1024;

  __attribute__((noinline)) const Region& look_up(uint64_t number) {
    uint32_t& name = names_[number];
    if (name == 0) {
      name = uint32_t(1 + (names_.size() - 1) % maximum());
      if (name >= numbers_.size()) numbers_.resize(name + 1);
      numbers_[name] = number;
    }
    const uint32_t to_name = name - uint32_t(number);
    return cached_[number % kCachedRegions] = {number, to_name << line_bits_,
                                               to_name << page_bits_};
  }

  int line_bits_;
  int page_bits_;
  std::unordered_map<uint64_t, uint32_t> names_;
  std::vector<uint64_t> numbers_;  // by name
  std::array<Region, kCachedRegions> cached_;
};

}  // namespace halo::simulator
