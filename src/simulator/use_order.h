// In which order a few things were used last.
#pragma once

#include <array>
#include <cstdint>

namespace halo::simulator {

// Of the things 0 to `Count` - 1: a ring of links, in which the most recently used one follows the
// least recently used one.
template <uint32_t Count>
class UseOrder {
 public:
  // At first 0 is the oldest.
  UseOrder() {
    for (uint32_t at = 0; at < Count; ++at) {
      newer_[at] = uint8_t((at + 1) % Count);
      older_[at] = uint8_t((at + Count - 1) % Count);
    }
  }

  // In the ring, the newest one is followed by the oldest.
  uint32_t oldest() const { return newer_[newest_]; }

  void use(uint32_t which) {
    if (which == newest_) return;
    const auto at = uint8_t(which);
    older_[newer_[at]] = older_[at];
    newer_[older_[at]] = newer_[at];
    const auto last = uint8_t(oldest());
    newer_[newest_] = older_[last] = at;
    older_[at] = newest_;
    newer_[at] = last;
    newest_ = at;
  }

 private:
  static_assert(Count <= 256);

  std::array<uint8_t, Count> newer_, older_;
  uint8_t newest_ = Count - 1;
};

}  // namespace halo::simulator
