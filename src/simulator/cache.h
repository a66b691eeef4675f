// One set-associative cache with least-recently-used replacement.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "simulator/ways.h"

namespace halo::simulator {

// A number of ways, and of sets that need not be a power of two. It holds blocks: lines for a
// cache, pages for a TLB; a block is known by its number, address over size.
struct Shape {
  uint32_t sets = 0;
  uint32_t ways = 0;
};

class Cache {
 public:
  explicit Cache(Shape shape)
      : shape_(shape),
        stride_((shape.ways + kWaysAtOnce - 1) / kWaysAtOnce * kWaysAtOnce),
        power_of_two_(std::has_single_bit(shape.sets)),
        reciprocal_(UINT64_MAX / std::max(shape.sets, 1u) + 1),
        find_(find_way_here()),
        entries_(size_t{shape.sets} * stride_) {}

  // True where the block is there; it then is the most recently used of its set.
  bool touch(uint64_t block, bool store) {
    uint64_t* set = set_of(block);
    const uint64_t wanted = key_of(block);
    if ((set[0] | kDirty) == wanted) [[likely]] {
      set[0] |= uint64_t{store};
      return true;
    }
    return touch_behind_first(set, wanted, store);
  }

  // Puts a block that is not there in the place of the least recently used. Returns the number of
  // that one where it was dirty, else kNone.
  static constexpr uint64_t kNone = UINT64_MAX;
  uint64_t insert(uint64_t block, bool store) {
    uint64_t* set = set_of(block);
    const uint64_t last = set[shape_.ways - 1];
    put_first(set, shape_.ways - 1, (key_of(block) & ~kDirty) | uint64_t{store});
    return last != 0 && (last & kDirty) != 0 ? (last >> 1) - 1 : kNone;
  }

  // True where the block is there; it is dirty then, but no more recently used than before.
  bool write_back(uint64_t block) {
    uint64_t* set = set_of(block);
    const uint32_t way = find_(set, stride_, key_of(block));
    if (way == stride_) return false;
    set[way] |= kDirty;
    return true;
  }

  bool holds(uint64_t block) { return find_(set_of(block), stride_, key_of(block)) != stride_; }

  // The block is about to be asked for: its set may not be in our own cache.
  void expect(uint64_t block) {
    const uint64_t* set = set_of(block);
    for (uint32_t way = 0; way < shape_.ways; way += 8) __builtin_prefetch(&set[way]);
  }

 private:
  // An entry is the block's number plus one, and a bit that says whether it is dirty; 0: none.
  static constexpr uint64_t kDirty = 1;
  __extension__ using Wide = unsigned __int128;
  static uint64_t key_of(uint64_t block) { return (block + 1) << 1 | kDirty; }

  uint64_t* set_of(uint64_t block) {
    return &entries_[(power_of_two_ ? block & (shape_.sets - 1) : remainder(block)) * stride_];
  }
  // By the number of sets. For most blocks a multiplication by its reciprocal tells.
  uint64_t remainder(uint64_t block) const {
    if (block >= reciprocal_) return block % shape_.sets;
    return block - uint64_t(Wide{block} * reciprocal_ >> 64) * shape_.sets;
  }
  bool touch_behind_first(uint64_t* set, uint64_t wanted, bool store) {
    const uint32_t way = find_(set, stride_, wanted);
    if (way == stride_) return false;
    put_first(set, way, set[way] | uint64_t{store});
    return true;
  }
  // Moves the ways before `way` one behind, over what is there; the last ones first, four at once.
  static void put_first(uint64_t* set, uint32_t way, uint64_t entry) {
    struct Four {
      uint64_t entries[4];
    };
    for (; way >= 4; way -= 4) {
      Four four;
      std::memcpy(&four, set + way - 4, sizeof four);
      std::memcpy(set + way - 3, &four, sizeof four);
    }
    for (; way > 0; --way) set[way] = set[way - 1];
    set[0] = entry;
  }

  Shape shape_;
  uint32_t stride_;      // entries from one set to the next: the ways, and as many 0 as are needed
  bool power_of_two_;    // the sets
  uint64_t reciprocal_;  // 2^64 over the sets, rounded up
  FindWay find_;
  std::vector<uint64_t> entries_;  // by set, the most recently used first
};

}  // namespace halo::simulator
