// Short names for lines and pages, dense where addresses are far apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "simulator/cache.h"
#include "simulator/machine.h"

namespace halo::simulator {

// Names regions of 2 MiB in the order in which they are asked for first, from 1 on; a block's name
// is its region's and, in the lower bits, which of the region's blocks it is.
class Regions {
 public:
  static constexpr int kShift = Machine::kHugeShift;

  // What makes a block's number, cut to 32 bits, its name by being added.
  struct Region {
    uint64_t number = UINT64_MAX;  // address over size
    uint32_t to_line = 0;
    uint32_t to_page = 0;
  };

  Regions(int line_shift, int page_shift)
      : line_bits_(kShift - line_shift), page_bits_(kShift - page_shift) {}

  const Region& of(uint64_t number) {
    const Region& known = known_[number % kKnown];
    return known.number == number ? known : look_up(number);
  }

  // The line that has a name.
  Block line(uint32_t name) const {
    const uint32_t within = name & ((1u << line_bits_) - 1);
    return {numbers_[name >> line_bits_] << line_bits_ | within, name};
  }

  // Regions that can be told apart; those beyond share the names of the first ones. 64 Ki with
  // lines of 64 bytes.
  uint32_t most() const { return (kEndOfNames >> line_bits_) - 1; }

 private:
  static constexpr size_t kKnown = 1024;

  __attribute__((noinline)) const Region& look_up(uint64_t number) {
    uint32_t& name = names_[number];
    if (name == 0) {
      name = uint32_t(1 + (names_.size() - 1) % most());
      if (name >= numbers_.size()) numbers_.resize(name + 1);
      numbers_[name] = number;
    }
    const uint32_t to_name = name - uint32_t(number);
    return known_[number % kKnown] = {number, to_name << line_bits_, to_name << page_bits_};
  }

  int line_bits_;
  int page_bits_;
  std::unordered_map<uint64_t, uint32_t> names_;
  std::vector<uint64_t> numbers_;  // by name
  std::array<Region, kKnown> known_;
};

}  // namespace halo::simulator
