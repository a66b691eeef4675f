// Waiting for a few instructions of another thread.
#pragma once

#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/keep_errno.h"

namespace halo {

// Sleeps for 50 us. Not by the C library's function, which is a cancellation point, and malloc is
// none.
inline void sleep_shortly() {
  const KeepErrno keep;
  constexpr timespec kStep{0, 50'000};
  syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &kStep, nullptr);
}

// Waits until `attempt` returns true. Yields at first; then sleeps, because a real-time thread that
// yields does not let threads of a lower priority run, and one of them may be the other thread.
template <typename Attempt>
void wait_until(const Attempt& attempt) {
  constexpr int kYields = 100;
  for (int i = 0; !attempt(); ++i) {
    if (i < kYields)
      sched_yield();
    else
      sleep_shortly();
  }
}

}  // namespace halo
