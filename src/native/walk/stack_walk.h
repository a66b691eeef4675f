// Walks up the stack of a thread, to the frames that the walk before has not seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "native/walk/code_rows.h"

namespace halo::native {

struct Frame {
  uint64_t slot;  // address of the return address
  uint64_t return_address;
};

// What has changed since the walk before: that many of its outermost frames are kept, and these
// follow, the outermost one first.
struct StackChange {
  size_t kept;
  std::span<const Frame> fresh;
};

// The frames of the latest walk of one thread, outermost first.
//
// The next walk ends at a frame with the same slot and return address, if all frames outside of it
// still have their return addresses in memory. Of more than kVerified frames, those next to it and
// the outermost ones are compared.
class StackWalk {
 public:
  static constexpr size_t kMaxFrames = 1 << 16;
  static constexpr size_t kVerified = 256;

  // `frames`: memory for kMaxFrames frames. Called before the first walk.
  void begin(Frame* frames) { frames_ = frames; }

  // How many frames the walk before has found.
  size_t count() const { return count_; }

  // Walks from the call whose return address is at `slot`; `frame` is the rbp of its caller.
  StackChange walk(CodeRows& rows, uint64_t slot, uint64_t frame);

 private:
  // How many of the first `count` frames are as they were.
  size_t unchanged(size_t count) const;

  Frame* frames_ = nullptr;
  size_t count_ = 0;
  uint64_t generation_ = 0;  // of the rows; code may be unmapped since an earlier one
};

}  // namespace halo::native
