// Limits how often modules are placed again.
#pragma once

#include <algorithm>
#include <cstdint>

namespace halo::runtime {

// Each caller of a module has a word in the callers table, which a dlclose removes and the next
// dlopen adds. A program that often reloads a plug-in with thousands of callers would spend its
// time on that.
class PlacingBudget {
 public:
  // Whether that many callers may be written now; if so, subtracts the cost. `now`: nanoseconds of
  // a monotonic clock. One thread at a time.
  bool take(uint32_t callers, uint64_t now) {
    if (callers <= kFreeOfCharge) return true;
    if (now > last_) {
      saved_ = std::min(saved_ + (now - last_) / kShare, kMaxSaved);
      last_ = now;
    }
    const uint64_t cost = uint64_t{callers} * kEach;
    if (cost > saved_) return false;
    saved_ -= cost;
    return true;
  }

 private:
  static constexpr uint32_t kFreeOfCharge = 256;  // negligible beside a dlopen
  static constexpr uint64_t kEach = 4;            // nanoseconds to write and remove a word
  static constexpr uint64_t kShare = 50;
  static constexpr uint64_t kMaxSaved = 5'000'000;

  uint64_t saved_ = kMaxSaved;  // nanoseconds
  uint64_t last_ = 0;
};

}  // namespace halo::runtime
