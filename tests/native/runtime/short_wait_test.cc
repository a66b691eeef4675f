// Waits of threads of real-time priority.
#include "base/short_wait.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace halo {
namespace {

void stay_on_this_processor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

// Without a sleep, the kernel would let the other thread run once in a second, or never.
TEST(ShortWait, LetsThreadsOfALowerPriorityRun) {
  using std::chrono::milliseconds, std::chrono::steady_clock;
  std::atomic<bool> is_waiting{false}, is_done{false};
  steady_clock::duration waited{};
  std::thread both([&] {
    stay_on_this_processor();
    std::thread lower([&] {
      while (!is_waiting) sleep_shortly();
      is_done = true;
    });
    const sched_param real_time{.sched_priority = 1};
    EXPECT_EQ(pthread_setschedparam(pthread_self(), SCHED_FIFO, &real_time), 0);
    const auto start = steady_clock::now();
    is_waiting = true;
    wait_until([&] { return is_done.load(); });
    waited = steady_clock::now() - start;
    lower.join();
  });
  both.join();
  EXPECT_LT(waited, milliseconds(500));
}

}  // namespace
}  // namespace halo
