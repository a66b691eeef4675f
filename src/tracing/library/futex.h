// Waiting and locking by futex alone, usable wherever the program may call the hook.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace halo::logging {

// Returns when the word is woken or differs, after the timeout, or spuriously.
inline void futex_wait(std::atomic<uint32_t>& word, uint32_t expected, int64_t milliseconds) {
  const timespec time{milliseconds / 1000, milliseconds % 1000 * 1000000};
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &time, nullptr, 0);
}

inline void futex_wake_all(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// A thread must hold it only with all signals blocked.
class Lock {
 public:
  void lock() {
    while (taken_.exchange(1, std::memory_order_acquire) != 0) futex_wait(taken_, 1, 1);
  }
  void unlock() {
    taken_.store(0, std::memory_order_release);
    futex_wake_all(taken_);
  }

 private:
  std::atomic<uint32_t> taken_{0};
};

class Locked {
 public:
  explicit Locked(Lock& lock) : lock_(lock) { lock_.lock(); }
  ~Locked() { lock_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Lock& lock_;
};

}  // namespace halo::logging
