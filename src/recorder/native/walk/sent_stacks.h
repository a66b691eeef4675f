// Which stacks of a thread its consumer knows by number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "recorder/channel/streams.h"
#include "recorder/native/walk/stack_walk.h"

namespace halo::native {

// A direct-mapped cache of hashes (StackWalk::hash). The consumer has one of contexts, with the
// same places: a stack that is not here is sent, and takes the place of another one. Place and mark
// are 46 bits of the hash: with a chance of 2^-46, a stack is taken for another one.
class SentStacks {
 public:
  static constexpr int kPlaceBits = 15;
  static constexpr size_t kPlaces = size_t{1} << kPlaceBits;
  static_assert(kPlaces <= channel::kStackPlaces);

  // `marks`: memory for kPlaces marks, initially zero.
  void begin(uint32_t* marks) {
    marks_ = marks;
    common_ = 0;
  }

  static uint64_t place_of(uint64_t hash) { return hash >> (64 - kPlaceBits); }

  // Called after each walk. Returns true if the stack was not here: then it is to be sent, all
  // frames but common().
  bool add(const StackChange& change, uint64_t hash) {
    common_ = std::min(common_, change.kept);
    const uint32_t mark = uint32_t(hash) | 1;
    uint32_t& known = marks_[place_of(hash)];
    if (known == mark) [[likely]]
      return false;
    known = mark;
    return true;
  }
  // This many of the outermost frames are those of the stack that was sent last.
  size_t common() const { return common_; }
  void sent(size_t count) { common_ = count; }

 private:
  uint32_t* marks_ = nullptr;
  size_t common_ = 0;
};

}  // namespace halo::native
