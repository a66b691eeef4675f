// The random numbers of littering depend on the seed only, and are uniform.
#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

namespace halo::litter {
namespace {

using base::Random;

TEST(Random, IsBelowItsBound) {
  Random random(1);
  for (const uint64_t bound :
       {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1} << 40, UINT64_MAX})
    for (int i = 0; i < 1000; ++i) ASSERT_LT(random.below(bound), bound);
}

// The first number of seed 0 by the authors' own C program.
TEST(Random, IsSplitmix64) {
  EXPECT_EQ(Random(0).below(uint64_t{1} << 32), 0xe220a8397b1dcdaf >> 32);
}

TEST(Random, DependsOnItsSeedOnly) {
  const auto numbers = [](uint64_t seed) {
    Random random(seed);
    std::vector<uint64_t> result(100);
    for (auto& number : result) number = random.below(1000);
    return result;
  };
  EXPECT_EQ(numbers(7), numbers(7));
  EXPECT_NE(numbers(7), numbers(8));
}

TEST(Random, ShufflesIntoAPermutation) {
  Random random(3);
  for (const size_t size : {0, 1, 2, 1000}) {
    std::vector<int> order(size), sorted(size);
    std::iota(sorted.begin(), sorted.end(), 0);
    order = sorted;
    random.shuffle(order.data(), order.size());
    EXPECT_TRUE(size < 1000 || order != sorted);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, sorted);
  }
}

// Each of 24 orders is expected 1000 times; a deviation of 200 is six standard deviations.
TEST(Random, FavoursNoOrder) {
  Random random(5);
  std::map<std::vector<int>, int> seen;
  for (int i = 0; i < 24000; ++i) {
    std::vector<int> order{0, 1, 2, 3};
    random.shuffle(order.data(), order.size());
    ++seen[order];
  }
  EXPECT_EQ(seen.size(), 24u);
  for (const auto& [order, count] : seen) EXPECT_NEAR(count, 1000, 200);
}

}  // namespace
}  // namespace halo::litter
