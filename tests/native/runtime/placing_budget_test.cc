// The number of times that modules are placed again, over time.
#include "runtime/modules/placing_budget.h"

#include <gtest/gtest.h>

namespace halo::runtime {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

// The number of placements among `reloads` reloads of a plug-in, one every `period` nanoseconds.
int placed(uint32_t callers, int reloads, uint64_t period) {
  PlacingBudget budget;
  int taken = 0;
  for (int i = 0; i < reloads; ++i) taken += budget.take(callers, 7 * kSecond + i * period) ? 1 : 0;
  return taken;
}

TEST(PlacingBudget, FewCallersAreAlwaysPlaced) { EXPECT_EQ(placed(256, 100'000, 0), 100'000); }

TEST(PlacingBudget, ManyCallersArePlacedIfReloadsAreRare) {
  EXPECT_EQ(placed(5000, 10'000, kSecond / 100), 10'000);
}

TEST(PlacingBudget, ReloadsOneAfterTheOtherTakeAFiftiethOfTheTime) {
  constexpr uint64_t kPeriod = 50'000;
  const int of_burst = 5'000'000 / (5000 * 4);
  const auto of_time = static_cast<int>(100'000 * kPeriod / 50 / (5000 * 4));
  EXPECT_NEAR(placed(5000, 100'000, kPeriod), of_burst + of_time, 2);
}

TEST(PlacingBudget, WhatIsSavedInALongTimeIsLimited) {
  PlacingBudget budget;
  EXPECT_TRUE(budget.take(5000, kSecond));
  int taken = 0;
  while (budget.take(5000, 1000 * kSecond)) ++taken;
  EXPECT_EQ(taken, 5'000'000 / (5000 * 4));
}

TEST(PlacingBudget, AClockThatStopsOrGoesBackAddsNothing) {
  PlacingBudget budget;
  while (budget.take(5000, 9 * kSecond)) {
  }
  EXPECT_FALSE(budget.take(5000, 9 * kSecond));
  EXPECT_FALSE(budget.take(5000, kSecond));
}

}  // namespace
}  // namespace halo::runtime
