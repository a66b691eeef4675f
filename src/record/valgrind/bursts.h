// When accesses are recorded: in bursts (Hirzel and Chilimbi, 2001, "Bursty tracing").
#pragma once

#include <algorithm>
#include <cstdint>

namespace halo::record::valgrind {

// Time counts in superblocks that were executed, so that a program's recordings are alike. A burst
// begins in each period. It is the shorter the more has been executed: short programs are recorded
// nearly as a whole, of long ones one superblock in kLeastShare.
class Bursts {
 public:
  static constexpr uint64_t kPeriod = 100'000;  // what the core lets a thread run for at most
  static constexpr uint64_t kLeastShare = 64;
  static constexpr uint64_t kWholePeriods = 16;  // are recorded at first; then the share falls

  bool recording() const { return recording_; }
  // How many superblocks each one of the present burst stands for.
  uint64_t weight() const { return weight_; }

  // A thread is about to run; `counter` is the core's, which falls by one with each superblock.
  // True where a burst begins that does not simply go on with the last.
  //
  // A thread that waits is resumed in the middle of a period, and the next burst comes late. Then
  // the one after it comes early, so that on the average there is one in each period.
  bool begins(uint64_t blocks, uint32_t counter) {
    counter_ = counter;
    if (blocks < next_) return false;
    next_ = std::max(next_ + kPeriod, blocks - std::min(blocks, kPeriod));
    const bool whole = recording_ && weight_ == 1;
    weight_ = std::min(1 + blocks / (kPeriod * kWholePeriods), kLeastShare);
    left_ = int64_t(kPeriod / weight_);
    recording_ = true;
    return !whole || weight_ != 1;
  }

  // It runs. True where the burst has come to its end.
  bool ends(uint32_t counter) {
    left_ -= int32_t(counter_ - counter);
    counter_ = counter;
    if (left_ > 0 || weight_ == 1) return false;
    recording_ = false;
    return true;
  }

 private:
  bool recording_ = true;
  uint64_t weight_ = 1;
  uint64_t next_ = 0;
  int64_t left_ = 0;
  uint32_t counter_ = 0;
};

}  // namespace halo::record::valgrind
