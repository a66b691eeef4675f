// When the watch may trap pages: in windows whose cost is a share of the elapsed time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace halo::watching {

// A pair of references is judged by what is trapped in between, so pages are trapped all of the
// time or not at all. A window begins once there is time for it, and ends when that time is spent.
class Budget {
 public:
  // `share` of the elapsed time (0 to 1), from the time `now_ns` on.
  Budget(double share, uint64_t now_ns) : share_(share), begin_ns_(now_ns), now_ns_(now_ns) {}

  void pass(uint64_t now_ns) {
    if (is_open_) open_ns_ += now_ns - now_ns_;
    now_ns_ = now_ns;
  }

  // A thread of the program waited for that time.
  void spend(uint64_t ns) { spent_ns_ += ns; }

  bool may_open() const { return !is_open_ && left_ns() >= double(kWindowNs); }
  bool must_close() const { return is_open_ && (left_ns() <= 0 || now_ns_ - opened_ns_ > kMaxNs); }
  bool is_open() const { return is_open_; }

  void open() {
    is_open_ = true;
    opened_ns_ = now_ns_;
    ++windows_;
  }
  void close() { is_open_ = false; }

  // Microseconds in windows.
  uint64_t open_us() const { return open_ns_ / 1000; }
  uint64_t spent_ns() const { return spent_ns_; }
  uint64_t windows() const { return windows_; }

 private:
  static constexpr uint64_t kWindowNs = 250'000'000;  // that threads wait
  static constexpr uint64_t kMaxNs = 2'000'000'000;   // that a window is open

  double left_ns() const { return share_ * double(now_ns_ - begin_ns_) - double(spent_ns_); }

  double share_;
  uint64_t begin_ns_;
  uint64_t now_ns_;
  uint64_t opened_ns_ = 0;
  uint64_t open_ns_ = 0;
  uint64_t spent_ns_ = 0;
  uint64_t windows_ = 0;
  bool is_open_ = false;
};

}  // namespace halo::watching
