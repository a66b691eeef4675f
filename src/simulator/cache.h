// One set-associative cache with least-recently-used replacement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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
        mask_((shape.sets & (shape.sets - 1)) == 0 ? shape.sets - 1 : 0),
        entries_(size_t{shape.sets} * shape.ways) {}

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
    const uint32_t way = way_of(set, key_of(block));
    if (way == shape_.ways) return false;
    set[way] |= kDirty;
    return true;
  }

  bool holds(uint64_t block) { return way_of(set_of(block), key_of(block)) != shape_.ways; }

  // The block is about to be asked for: its set may not be in our own cache.
  void expect(uint64_t block) {
    const uint64_t* set = set_of(block);
    for (uint32_t way = 0; way < shape_.ways; way += 8) __builtin_prefetch(&set[way]);
  }

 private:
  // An entry is the block's number plus one, and a bit that says whether it is dirty; 0: none.
  static constexpr uint64_t kDirty = 1;
  static uint64_t key_of(uint64_t block) { return (block + 1) << 1 | kDirty; }

  uint64_t* set_of(uint64_t block) {
    const uint64_t set = mask_ != 0 || shape_.sets == 1 ? block & mask_ : block % shape_.sets;
    return &entries_[set * shape_.ways];
  }
  // The number of ways where it is in none.
  uint32_t way_of(const uint64_t* set, uint64_t wanted) const {
    uint32_t way = 0;
    while (way < shape_.ways && (set[way] | kDirty) != wanted) ++way;
    return way;
  }
  bool touch_behind_first(uint64_t* set, uint64_t wanted, bool store) {
    const uint32_t way = way_of(set, wanted);
    if (way == shape_.ways) return false;
    put_first(set, way, set[way] | uint64_t{store});
    return true;
  }
  // Moves the ways before `way` one behind, over what is there.
  static void put_first(uint64_t* set, uint32_t way, uint64_t entry) {
    for (; way > 0; --way) set[way] = set[way - 1];
    set[0] = entry;
  }

  Shape shape_;
  uint64_t mask_;                  // 0: divide
  std::vector<uint64_t> entries_;  // by set, the most recently used first
};

}  // namespace halo::simulator
