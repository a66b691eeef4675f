// Draws are uniform, within range, and the same in every run.
#include "runtime/extra/random_pools.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace halo::runtime {
namespace {

std::vector<CallerCode> drawn_by_a_new_thread(int count) {
  std::vector<CallerCode> draws;
  std::thread([&] {
    for (int i = 0; i < count; ++i) draws.push_back(draw_pool());
  }).join();
  return draws;
}

// A single test, since the order of the threads determines their seeds.
TEST(RandomPools, AreDrawnEvenlyAndDifferentlyByEachThread) {
  constexpr int kCount = 40000;
  for (const uint32_t pools : {1u, 3u, 4u, 4096u}) {
    random_pools = pools;
    align_pools(pools != 3);
    std::vector<int> times(pools);
    const std::vector<CallerCode> draws = drawn_by_a_new_thread(kCount);
    for (const CallerCode code : draws) {
      ASSERT_TRUE(is_decided(code));
      ASSERT_LT(group_of(code), pools);
      ASSERT_EQ(align_bit(code), pools == 3 ? 0u : 1u);
      ++times[group_of(code)];
    }
    if (pools <= 4) {
      for (const int seen : times) EXPECT_NEAR(seen, kCount / pools, 500);
    }
    if (pools != 1) {
      EXPECT_NE(drawn_by_a_new_thread(kCount), draws);
    }
  }
}

TEST(RandomPools, FollowFromTheNumberOfTheThread) {
  // From Marsaglia's paper: x ^= x << 13, x ^= x >> 17, x ^= x << 5.
  random_pools = 4;
  align_pools(true);
  std::thread([] {
    uint32_t x = last_random_number = 2463534242u;
    for (int i = 0; i < 1000; ++i) {
      x ^= x << 13;
      x ^= x >> 17;
      x ^= x << 5;
      ASSERT_EQ(group_of(draw_pool()), x >> 30);
    }
  }).join();
}

}  // namespace
}  // namespace halo::runtime
