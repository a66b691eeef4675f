// The schedule of recorded bursts (Hirzel and Chilimbi, 2001, "Bursty tracing").
#pragma once

#include <algorithm>
#include <cstdint>

namespace halo::valgrind {

// Time counts in executed superblocks, so that recordings of a program are repeatable. Each period
// has one burst at a place of its own, so that anything periodic in the program is sampled evenly:
// a thread's return from a system call, for example.
//
// The recorded share falls as the program runs: short programs are recorded as a whole, of long
// ones one superblock in kMaxWeight. It starts to fall once the first kWholePeriods are over and
// kWholeWords were sent, but after kMaxWholePeriods at the latest. A program with few heap accesses
// sends little, so recording it is cheap and a small share would be too small a sample.
class Bursts {
 public:
  static constexpr uint64_t kPeriod = 100'000;
  static constexpr uint64_t kMaxWeight = 64;
  static constexpr uint64_t kWholePeriods = 16;
  static constexpr uint64_t kMaxWholePeriods = 256;
  static constexpr uint64_t kWholeWords = 16 << 20;

  enum class Change { kNone, kBegins, kEnds };

  bool recording() const { return recording_; }
  // The number of superblocks that each one of the present burst represents.
  uint64_t weight() const { return weight_; }

  // A thread is about to run; `counter` is the core's, which decreases by one per superblock.
  void resume(uint64_t blocks, uint32_t counter) { end_of_run_ = blocks + counter; }

  // The value of the counter from which the running thread's accesses are collected and `update` is
  // called.
  uint32_t collect_at() const {
    if (recording_) return UINT32_MAX;
    return uint32_t(std::min<uint64_t>(end_of_run_ - std::min(end_of_run_, begins_), UINT32_MAX));
  }

  // The change at the present superblock. `words` have been sent so far. A burst that starts while
  // the previous one is being recorded replaces it. Bursts without an access are skipped.
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
  // Plans the burst of the next period, or of the current one if later.
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

  // The recorded part of the period: the fractional part of multiples of the golden ratio, which
  // fill the range evenly.
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
  uint64_t end_of_run_ = 0;  // time at which the counter will be 0
};

}  // namespace halo::valgrind
