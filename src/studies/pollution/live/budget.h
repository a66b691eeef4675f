// When the watch may trap pages: in windows whose cost is a share of the elapsed time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace halo::watching {

// A pair of references is judged by what is trapped in between, so pages are trapped all of the
// time or not at all. A window begins once there is time for it, and ends when that time is spent.
//
// A step of time that is longer than `kMaxStepNs` was hardly a wait of the program: the process was
// stopped (SIGSTOP, a debugger, a suspended machine). It counts as that much only.
class Budget {
 public:
  static constexpr uint64_t kMaxStepNs = 100'000'000;

  // `share` of the elapsed time (0 to 1), from the time `now_ns` on.
  Budget(double share, uint64_t now_ns) : share_(share), now_ns_(now_ns) {}

  void pass(uint64_t now_ns) {
    const uint64_t step = std::min(now_ns - now_ns_, kMaxStepNs);
    elapsed_ns_ += step;
    if (is_open_) open_ns_ += step;
    now_ns_ = now_ns;
  }

  // A thread of the program waited for that time.
  void spend(uint64_t ns) { spent_ns_ += std::min(ns, kMaxStepNs); }

  bool may_open() const { return !is_open_ && left_ns() >= double(kWindowNs); }
  bool must_close() const {
    return is_open_ && (left_ns() <= 0 || open_ns_ - opened_ns_ > kMaxOpenNs);
  }
  bool is_open() const { return is_open_; }

  void open() {
    is_open_ = true;
    opened_ns_ = open_ns_;
    ++windows_;
  }
  void close() { is_open_ = false; }

  // Microseconds in windows.
  uint64_t open_us() const { return open_ns_ / 1000; }
  uint64_t spent_ns() const { return spent_ns_; }
  uint64_t windows() const { return windows_; }

 private:
  static constexpr uint64_t kWindowNs = 250'000'000;     // that threads wait
  static constexpr uint64_t kMaxOpenNs = 2'000'000'000;  // that a window is open

  double left_ns() const { return share_ * double(elapsed_ns_) - double(spent_ns_); }

  double share_;
  uint64_t now_ns_;
  uint64_t elapsed_ns_ = 0;
  uint64_t open_ns_ = 0;
  uint64_t opened_ns_ = 0;  // open_ns_ when the last window was opened
  uint64_t spent_ns_ = 0;
  uint64_t windows_ = 0;
  bool is_open_ = false;
};

}  // namespace halo::watching
