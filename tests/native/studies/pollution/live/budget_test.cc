#include "studies/pollution/live/budget.h"

#include <gtest/gtest.h>

namespace halo::watching {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kStopNs = 10'000 * kMs;

// Passes that many milliseconds from `now` on, and returns the time then.
uint64_t pass_ms(Budget& budget, uint64_t now, int count) {
  for (int ms = 0; ms < count; ++ms) budget.pass(now += kMs);
  return now;
}

TEST(Budget, AWindowOpensWhenItsTimeIsThereAndClosesWhenItIsSpent) {
  Budget budget(0.5, 7);
  const uint64_t now = pass_ms(budget, 7, 499);
  EXPECT_FALSE(budget.may_open());
  pass_ms(budget, now, 1);
  ASSERT_TRUE(budget.may_open());
  budget.open();
  EXPECT_FALSE(budget.must_close());
  for (int wait = 0; wait < 5; ++wait) budget.spend(50 * kMs);
  EXPECT_TRUE(budget.must_close());
  budget.close();
  EXPECT_FALSE(budget.may_open());
  EXPECT_EQ(budget.windows(), 1u);
}

TEST(Budget, AWindowIsOpenForTwoSecondsAtMost) {
  Budget budget(0.5, 0);
  uint64_t now = pass_ms(budget, 0, 1000);
  budget.open();
  now = pass_ms(budget, now, 2000);
  EXPECT_FALSE(budget.must_close());
  pass_ms(budget, now, 1);
  EXPECT_TRUE(budget.must_close());
}

TEST(Budget, AStopIsNotElapsedTime) {
  Budget budget(0.005, 0);
  budget.pass(kStopNs * 100);
  EXPECT_FALSE(budget.may_open()) << "0.5 % of the stop would be a window";
}

TEST(Budget, AStopInAWindowNeitherClosesItNorIsTimeInIt) {
  Budget budget(0.5, 0);
  uint64_t now = pass_ms(budget, 0, 500);
  budget.open();
  now = pass_ms(budget, now, 10);
  budget.pass(now += kStopNs);
  EXPECT_FALSE(budget.must_close());
  EXPECT_LE(budget.open_us(), (10 * kMs + Budget::kMaxStepNs) / 1000);
  pass_ms(budget, now, 10);
  EXPECT_FALSE(budget.must_close());
}

TEST(Budget, AStopDuringATrapIsNotTimeThatAThreadWaited) {
  Budget budget(0.5, 0);
  pass_ms(budget, 0, 500);
  budget.open();
  budget.spend(kStopNs);
  EXPECT_FALSE(budget.must_close());
  EXPECT_EQ(budget.spent_ns(), Budget::kMaxStepNs);
}

}  // namespace
}  // namespace halo::watching
