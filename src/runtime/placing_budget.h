// How often modules may be placed again: each of their callers has a word in the table of callers,
// which a dlclose takes out and the next dlopen puts in. A program that reloads a plug-in with
// thousands of callers again and again would spend its time on that.
#pragma once

#include <algorithm>
#include <cstdint>

namespace halo::runtime {

class PlacingBudget {
 public:
  // Whether that many callers may be written now; takes what it costs if so. `now`: nanoseconds of
  // a clock that does not go back. One thread at a time.
  bool take(std::uint32_t callers, std::uint64_t now) {
    if (callers <= few) return true;
    if (now > last_) {
      saved_ = std::min(saved_ + (now - last_) / share, most_saved);
      last_ = now;
    }
    const std::uint64_t cost = std::uint64_t{callers} * each;
    if (cost > saved_) return false;
    saved_ -= cost;
    return true;
  }

 private:
  static constexpr std::uint32_t few = 256;  // cost next to nothing beside a dlopen
  static constexpr std::uint64_t each = 4;   // nanoseconds for a word, in and out
  static constexpr std::uint64_t share = 50;
  static constexpr std::uint64_t most_saved = 5'000'000;

  std::uint64_t saved_ = most_saved;  // nanoseconds
  std::uint64_t last_ = 0;
};

}  // namespace halo::runtime
