// The most frequent sizes of a context: a space-saving heavy-hitter estimate.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace halo::sinks {

struct SizeCount {
  uint32_t size;
  uint64_t count;
};

class SizeSketch {
 public:
  void add(uint32_t size) {
    auto minimum = slots_.begin();
    for (auto at = slots_.begin(); at != slots_.end(); ++at) {
      if (at->count != 0 && at->size == size) {
        ++at->count;
        return;
      }
      if (at->count < minimum->count) minimum = at;
    }
    // The new size inherits the smallest count, as its possible past.
    *minimum = {size, minimum->count + 1};
  }

  // Up to 8, most frequent first.
  std::vector<SizeCount> top() const {
    std::vector<SizeCount> result;
    for (const SizeCount& slot : slots_) {
      if (slot.count != 0) result.push_back(slot);
    }
    std::sort(result.begin(), result.end(), [](const SizeCount& x, const SizeCount& y) {
      return x.count != y.count ? x.count > y.count : x.size < y.size;
    });
    if (result.size() > kReported) result.resize(kReported);
    return result;
  }

 private:
  static constexpr size_t kSlots = 16;
  static constexpr size_t kReported = 8;

  std::array<SizeCount, kSlots> slots_{};
};

}  // namespace halo::sinks
