// A map of 64-bit numbers to 32-bit ones, with room for a fixed number of them.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace halo::watch {

// Open addressing by linear probing. At most half of the slots are used, so that searches end. All
// memory is allocated at once.
class NumberMap {
 public:
  static constexpr uint32_t kAbsent = UINT32_MAX;  // no value

  explicit NumberMap(uint32_t capacity)
      : slots_(std::bit_ceil(uint64_t{capacity} * 2 + 2)), mask_(slots_.size() - 1) {}

  // The value of the key; kAbsent if it has none.
  uint32_t find(uint64_t key) const {
    uint64_t at = home(key);
    while (slots_[at].value != kAbsent && slots_[at].key != key) at = after(at);
    return slots_[at].value;
  }

  // The key must be absent, and there must be room.
  void insert(uint64_t key, uint32_t value) {
    uint64_t at = home(key);
    while (slots_[at].value != kAbsent) at = after(at);
    slots_[at] = {key, value};
  }

  // Does nothing if the key is absent. Later entries of the run move up, so that no gap hides them.
  void erase(uint64_t key) {
    uint64_t gap = home(key);
    while (slots_[gap].value != kAbsent && slots_[gap].key != key) gap = after(gap);
    if (slots_[gap].value == kAbsent) return;
    for (uint64_t at = after(gap); slots_[at].value != kAbsent; at = after(at)) {
      if (((at - home(slots_[at].key)) & mask_) < ((at - gap) & mask_)) continue;
      slots_[gap] = slots_[at];
      gap = at;
    }
    slots_[gap].value = kAbsent;
  }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t value = kAbsent;
  };

  // The upper bits of the product depend on all bits of the key (Knuth, volume 3, section 6.4).
  uint64_t home(uint64_t key) const { return (key * 0x9e3779b97f4a7c15) >> 32 & mask_; }
  uint64_t after(uint64_t at) const { return (at + 1) & mask_; }

  std::vector<Slot> slots_;
  uint64_t mask_;
};

}  // namespace halo::watch
