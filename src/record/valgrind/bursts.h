// When accesses are recorded: in bursts (Hirzel and Chilimbi, 2001, "Bursty tracing").
#pragma once

#include <algorithm>
#include <cstdint>

namespace halo::record::valgrind {

// Time counts in superblocks that were executed, so that a program's recordings are alike. Each
// period has one burst, at a place of its own: a thread's return from a system call, or whatever
// else the program repeats, is recorded as often as anything else. Bursts are the shorter the more
// has been executed: short programs are recorded as a whole, of long ones one superblock in
// kMaxWeight. The share begins to fall when the first kWholePeriods are over and kWholeWords have
// been sent, but after kMaxWholePeriods at the latest: what a program with few accesses to its heap
// sends costs little, and a part of it would tell little.
class Bursts {
 public:
  static constexpr uint64_t kPeriod = 100'000;
  static constexpr uint64_t kMaxWeight = 64;
  static constexpr uint64_t kWholePeriods = 16;
  static constexpr uint64_t kMaxWholePeriods = 256;
  static constexpr uint64_t kWholeWords = 16 << 20;

  enum class Change { kNone, kBegins, kEnds };

  bool recording() const { return recording_; }
  // How many superblocks each one of the present burst stands for.
  uint64_t weight() const { return weight_; }

  // A thread is about to run; `counter` is the core's, which falls by one with each superblock.
  void resume(uint64_t blocks, uint32_t counter) { end_of_run_ = blocks + counter; }

  // From which value of the counter on the running thread's accesses are to be collected, and
  // `update` called.
  uint32_t collect_at() const {
    if (recording_) return UINT32_MAX;
    return uint32_t(std::min<uint64_t>(end_of_run_ - std::min(end_of_run_, begins_), UINT32_MAX));
  }

  // What the present superblock changes. `words` have been sent so far. A burst that begins while
  // the last one is being recorded takes its place. Bursts without an access are passed over.
  Change update(uint32_t counter, uint64_t words) {
    const uint64_t now = end_of_run_ - counter;
    if (now < (recording_ ? ends_ : begins_)) return Change::kNone;
    const bool had_burst = recording_;
    const uint64_t had_weight = weight_;
    while (now >= ends_) plan_next(now, words);
    recording_ = now >= begins_;
    if (recording_ && had_burst && had_weight == 1 && weight_ == 1) return Change::kNone;
    if (recording_) return Change::kBegins;
    return had_burst ? Change::kEnds : Change::kNone;
  }

 private:
  // The next period's burst, or that of the one that it is now.
  void plan_next(uint64_t now, uint64_t words) {
    period_ = std::max(period_ + 1, now / kPeriod);
    const uint64_t start = period_ * kPeriod;
    if (words < kWholeWords && period_ < kMaxWholePeriods)
      delay_ = start - std::min(start, kPeriod * (kWholePeriods - 1));
    weight_ = std::min(1 + (start - delay_) / (kPeriod * kWholePeriods), kMaxWeight);
    const uint64_t length = kPeriod / weight_;
    begins_ = start + length * (weight_ * place_in(period_) >> kPlaceBits);
    ends_ = begins_ + length;
  }

  // Which part of the period is recorded. Multiples of the golden ratio, without their integers:
  // they fill the range evenly.
  static constexpr int kPlaceBits = 24;
  static uint64_t place_in(uint64_t period) {
    return period * 0x9E3779B97F4A7C15 >> (64 - kPlaceBits);
  }

  bool recording_ = true;
  uint64_t weight_ = 1;
  uint64_t period_ = 0;
  uint64_t begins_ = 0;
  uint64_t ends_ = kPeriod;
  uint64_t delay_ = 0;       // superblocks by which the share falls later
  uint64_t end_of_run_ = 0;  // when the counter will be 0
};

}  // namespace halo::record::valgrind
