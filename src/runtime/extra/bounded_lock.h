// A lock that no thread waits for without a bound.
#pragma once

#include <atomic>

#include "base/short_wait.h"

namespace halo::runtime {

// The holder may be the thread that a signal handler has interrupted, or may not exist: it was lost
// in a fork, or left a signal handler by a jump. So a caller must be able to do without the lock.
class BoundedLock {
 public:
  // Returns false if the lock is held.
  bool try_acquire() {
    return !held_.load(std::memory_order_relaxed) &&
           !held_.exchange(true, std::memory_order_acquire);
  }

  // Waits for a while, and returns false if the lock is held all that time. No thread waits any
  // more after that, until the lock is released.
  bool acquire() {
    for (int i = 0; i < kAttempts; ++i) {
      if (try_acquire()) return true;
      if (in_vain_.load(std::memory_order_relaxed)) return false;
      if (i < kSpins)
        __builtin_ia32_pause();
      else
        sleep_shortly();  // by yielding, it would give up while the holder waits for a processor
    }
    in_vain_.store(true, std::memory_order_relaxed);
    return false;
  }

  void release() {
    in_vain_.store(false, std::memory_order_relaxed);
    held_.store(false, std::memory_order_release);
  }

 private:
  static constexpr int kSpins = 100;
  static constexpr int kAttempts = kSpins + 200;

  std::atomic<bool> held_{false};
  std::atomic<bool> in_vain_{false};  // a thread gave up waiting since the last release
};

}  // namespace halo::runtime
