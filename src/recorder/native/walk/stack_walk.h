// Walks up the stack of a thread, to the frames that the walk before has not seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "recorder/native/walk/code_rows.h"

namespace halo::native {

struct Frame {
  uint64_t slot;  // address of the return address
  uint64_t return_address;
  uint64_t hash;  // of the return addresses from the outermost one to this, and of their distances
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

  // `frames`: memory for kMaxFrames frames. `seed`: of the hashes. Called before the first walk.
  void begin(Frame* frames, uint64_t seed) {
    frames_ = frames;
    seed_ = seed;
  }

  // The frames of the walk before.
  std::span<const Frame> frames() const { return {frames_, count_}; }
  // Of those: equal stacks of the same seed and generation of code have equal hashes, and others
  // differ but for a chance of 2^-64.
  uint64_t hash() const { return count_ == 0 ? first_hash() : frames_[count_ - 1].hash; }

  // Walks from the call whose return address is at `slot`; `frame` is the rbp of its caller.
  StackChange walk(CodeRows& rows, uint64_t slot, uint64_t frame);

 private:
  // How many of the first `count` frames are as they were.
  size_t unchanged(size_t count) const;
  void hash_from(size_t first);
  uint64_t first_hash() const { return seed_ << 32 ^ generation_; }

  Frame* frames_ = nullptr;
  size_t count_ = 0;
  uint64_t seed_ = 0;
  uint64_t generation_ = 0;  // of the rows; code may be unmapped since an earlier one
};

}  // namespace halo::native
