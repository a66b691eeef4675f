// Counts by ordered pair of states.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace halo::sinks {

struct PairCount {
  uint64_t conflict = 0;   // conflict misses of the first state, by lines of the second in the set
  uint64_t collision = 0;  // likewise, of its conflict and capacity misses
  uint64_t lines = 0;      // lines of the second between uses of a line of the first

  bool is_empty() const { return (conflict | collision | lines) == 0; }
};

// Pairs of the first states are in rows, one for each first state with pairs. All others are in a
// hash table.
class PairCounts {
 public:
  static constexpr uint32_t kInRows = 512;  // states; all rows take 6 MiB

  PairCount& of(uint32_t first, uint32_t second) {
    if (first >= kInRows || second >= kInRows) return others_[uint64_t{first} << 32 | second];
    std::unique_ptr<Row>& row = rows_[first];
    if (row == nullptr) row = std::make_unique<Row>();
    return (*row)[second];
  }

  // Calls visit(first, second, count) for each pair with a count, in no order.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (uint32_t first = 0; first < kInRows; ++first) {
      if (rows_[first] == nullptr) continue;
      for (uint32_t second = 0; second < kInRows; ++second)
        if (const PairCount& count = (*rows_[first])[second]; !count.is_empty())
          visit(first, second, count);
    }
    for (const auto& [pair, count] : others_) visit(uint32_t(pair >> 32), uint32_t(pair), count);
  }

 private:
  using Row = std::array<PairCount, kInRows>;

  std::array<std::unique_ptr<Row>, kInRows> rows_;
  std::unordered_map<uint64_t, PairCount> others_;
};

}  // namespace halo::sinks
