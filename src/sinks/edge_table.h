// Counts by unordered pair of contexts: an open-addressing hash table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace halo::sinks {

struct Edge {
  base::ContextId a;  // a <= b
  base::ContextId b;
  uint64_t weight;
};

// Where a weight comes from: all accesses of a time, or bursts, of which every other one makes up
// an estimate of its own.
enum class EdgePart : int { kExact, kOdd, kEven };

class EdgeTable {
 public:
  EdgeTable() : slots_(kInitialSlots) {}

  // Adds `weight` to one of the parts of an edge's weight.
  void increment(base::ContextId x, base::ContextId y, uint64_t weight = 1,
                 EdgePart part = EdgePart::kExact) {
    uint32_t low = base::index(x), high = base::index(y);
    if (low > high) std::swap(low, high);
    // Stored plus one: a zero key is an empty slot.
    const uint64_t key = (uint64_t(low) << 32 | high) + 1;
    std::size_t at = slot_of(key);
    while (slots_[at].key != key) {
      if (slots_[at].key == 0) {
        insert(key, weight, part);
        return;
      }
      at = (at + 1) & (slots_.size() - 1);
    }
    slots_[at].parts[int(part)] += weight;
  }

  void clear();
  // In ascending order of (a, b).
  std::vector<Edge> edges() const;
  // By how much the two estimates differ, over the weights, both summed up.
  double relative_error() const;

 private:
  static constexpr std::size_t kInitialSlots = 1024;

  struct Slot {
    uint64_t key = 0;
    uint64_t parts[3] = {};  // by EdgePart
  };

  std::size_t slot_of(uint64_t key) const {
    return ((key * 0x9E3779B97F4A7C15ULL) >> 32) & (slots_.size() - 1);
  }
  void insert(uint64_t key, uint64_t weight, EdgePart part);
  void grow();

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace halo::sinks
