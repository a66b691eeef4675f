// Tests of bursts: each begins by a signal that the test sends to itself.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <vector>

#include "recorder/native/burst/bursts.h"

namespace halo::native {

inline thread_local std::vector<Access>* recorded = nullptr;
inline thread_local int bursts_ended = 0;
inline thread_local uint64_t wanted_words = 0;

inline void sink(std::span<const Access> accesses) {
  if (recorded == nullptr) return;
  // In memory that was reserved before: this may be a signal handler.
  for (const Access& access : accesses)
    if (recorded->size() < recorded->capacity()) recorded->push_back(access);
}

inline void observe(Bursts::Change change) {
  if (change == Bursts::Change::kResumes) return;
  bursts_ended += change == Bursts::Change::kEnds;
  bursts.flush();
}

inline void start_at(int, siginfo_t*, void* context) {
  bursts.start(*static_cast<ucontext_t*>(context), wanted_words);
}

class BurstFixture : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    static const bool is_ready = bursts.begin(sink, observe, false);
    ASSERT_TRUE(is_ready);
    struct sigaction action{};
    action.sa_sigaction = start_at;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR2, &action, nullptr);
  }

  BurstFixture() {
    getppid();  // ends the burst of another test
    accesses_.reserve(1 << 20);
    recorded = &accesses_;
    bursts_ended = 0;
  }
  ~BurstFixture() override { recorded = nullptr; }

  // What follows is in a burst, up to the next system call.
  [[gnu::always_inline]] static void begin(uint64_t words = 2 << 20) {
    getppid();  // ends the one before
    if (recorded != nullptr) recorded->clear();
    wanted_words = words;
    pthread_kill(pthread_self(), SIGUSR2);
  }
  // Ends it; the accesses in these objects, in order.
  std::vector<Access> within(const void* begin, size_t bytes) {
    getppid();
    EXPECT_FALSE(Bursts::is_active());
    const auto from = reinterpret_cast<uint64_t>(begin);
    std::vector<Access> found;
    for (const Access& access : accesses_)
      if (access.address - from < bytes) found.push_back(access);
    return found;
  }

  std::vector<Access> accesses_;
};

}  // namespace halo::native
