// One set-associative cache with least-recently-used replacement.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/ways.h"

namespace halo::simulator {

// The number of ways, and of sets, which need not be a power of two. A cache holds lines, a TLB
// pages: both are blocks.
struct Shape {
  uint32_t sets = 0;
  uint32_t ways = 0;
};

struct Block {
  uint64_t number = 0;  // address over size; determines the set
  uint32_t name = 0;    // distinguishes it from others; 1 to kEndOfNames - 1

  // The block `distance` blocks further on, in the same region.
  Block behind(int distance) const { return {number + distance, name + uint32_t(distance)}; }
};

class Cache {
 public:
  explicit Cache(Shape shape)
      : shape_(shape),
        steps_((shape.ways + kLanes - 1) / kLanes),
        step_shift_(std::bit_width(steps_ - 1)),
        power_of_two_(std::has_single_bit(shape.sets)),
        reciprocal_(UINT64_MAX / std::max(shape.sets, 1u) + 1),
        ways_(ways_here()),
        sets_(size_t{shape.sets} << step_shift_) {}

  // Returns whether the block is cached, and makes it the most recently used of its set. It is
  // faster for more recently used blocks: for the first level, which every access uses.
  bool touch_newest(Block block, bool store) {
    Entry* set = set_of(block);
    const Entry entry = entry_of(block, store);
    if ((set[0] | kDirty) == (entry | kDirty)) [[likely]] {
      set[0] |= entry;
      return true;
    }
    return ways_.touch(set, shape_.ways, entry);
  }

  // Likewise, with the same speed for all blocks.
  bool touch(Block block, bool store) {
    return ways_.touch(set_of(block), shape_.ways, entry_of(block, store));
  }

  // Inserts a block that is not cached, in place of the least recently used one. Returns the name
  // of that one if it was dirty, else 0.
  uint32_t insert(Block block, bool store) {
    const Entry last = ways_.insert(set_of(block), shape_.ways, entry_of(block, store));
    return (last & kDirty) != 0 ? last >> 1 : 0;
  }

  // Returns whether the block is cached, and makes it dirty. The order of use stays.
  bool write_back(Block block) {
    Entry* set = set_of(block);
    const uint32_t way = ways_.find(set, shape_.ways, entry_of(block, true));
    if (way == shape_.ways) return false;
    set[way] |= kDirty;
    return true;
  }

  bool holds(Block block) {
    return ways_.find(set_of(block), shape_.ways, entry_of(block, false)) != shape_.ways;
  }

  // Calls visit(name) for each block in the set of this one, the most recently used first.
  template <class Visit>
  void for_each_in_set(Block block, const Visit& visit) {
    const Entry* set = set_of(block);
    for (uint32_t way = 0; way < shape_.ways && set[way] != 0; ++way) visit(set[way] >> 1);
  }

  // Prefetches the set of a block that will be accessed soon.
  void expect(Block block) {
    const Entry* set = set_of(block);
    for (uint32_t step = 0; step < steps_; ++step) __builtin_prefetch(set + step * kLanes);
  }

 private:
  struct alignas(kLanes * sizeof(Entry)) Step {
    Entry entries[kLanes];
  };
  __extension__ using Wide = unsigned __int128;
  static Entry entry_of(Block block, bool store) { return block.name << 1 | Entry{store}; }

  Entry* set_of(Block block) {
    const uint64_t set = power_of_two_ ? block.number & (shape_.sets - 1) : remainder(block.number);
    return sets_[set << step_shift_].entries;
  }
  // Modulo the number of sets; for most blocks a multiplication by the reciprocal suffices.
  uint64_t remainder(uint64_t number) const {
    if (number >= reciprocal_) return number % shape_.sets;
    return number - uint64_t(Wide{number} * reciprocal_ >> 64) * shape_.sets;
  }

  Shape shape_;
  uint32_t steps_;       // of kLanes entries: enough for the ways of a set
  int step_shift_;       // distance of two sets: a power of two of steps
  bool power_of_two_;    // the number of sets is a power of two
  uint64_t reciprocal_;  // 2^64 over the number of sets, rounded up
  WayOperations ways_;
  std::vector<Step> sets_;
};

}  // namespace halo::simulator
