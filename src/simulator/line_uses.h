// How often each line is used: the hot lines, and how they are spread over the sets of a cache.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/mapped_array.h"
#include "simulator/regions.h"
#include "simulator/ways.h"

namespace halo::simulator {

// The fewest lines with nine tenths of the uses. Slots are 64ths of the sets.
struct HotLines {
  static constexpr size_t kSlots = 64;

  uint64_t lines = 0;
  std::array<uint64_t, kSlots> by_slot{};
};

// Uses of the line that was used last do not count, as they hit any cache. An access uses its first
// and its last line.
class LineUses {
 public:
  // `line`: bytes, a power of two.
  explicit LineUses(uint32_t line)
      : line_shift_(std::countr_zero(line)), regions_(line_shift_, Regions::kShift) {}

  void use(uint64_t address, uint32_t size) {
    const uint64_t first = address >> line_shift_, last = (address + size - 1) >> line_shift_;
    count(first);
    count(last);
  }

  // `sets`: of the cache.
  HotLines hot_lines(uint32_t sets) const {
    std::vector<std::pair<uint32_t, uint32_t>> found;  // uses, name
    uint64_t left = 0;
    for (uint32_t name = 0; name < end_; ++name) {
      if (uses_[name] == 0) continue;
      found.emplace_back(uses_[name], name);
      left += uses_[name];
    }
    left -= left / 10;
    // Of equally hot lines, those of regions that were used first.
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    HotLines result;
    for (const auto& [uses, name] : found) {
      if (left == 0) break;
      left -= std::min<uint64_t>(left, uses);
      ++result.lines;
      ++result.by_slot[regions_.line(name).number % sets * HotLines::kSlots / sets];
    }
    return result;
  }

 private:
  void count(uint64_t line) {
    if (line == newest_) return;
    newest_ = line;
    const uint32_t name =
        uint32_t(line) + regions_.of(line >> (Regions::kShift - line_shift_)).to_line;
    if (uses_[name] != UINT32_MAX) ++uses_[name];
    end_ = std::max(end_, name + 1);
  }

  int line_shift_;
  uint64_t newest_ = UINT64_MAX;
  Regions regions_;
  uint32_t end_ = 0;                                            // no later name was used
  base::MappedArray<uint32_t> uses_{kEndOfNames, kEndOfNames};  // by name
};

}  // namespace halo::simulator
