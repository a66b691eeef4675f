// A program that takes pages again shortly after they were purged may keep more of them; other
// programs may not.
#include "runtime/pages/purge_limit.h"

#include <gtest/gtest.h>

namespace halo::runtime {
namespace {

constexpr uint64_t kUsual = 32;                // pages, with none in use
constexpr uint64_t kLater = 1000, kSoon = 10;  // milliseconds

// Purges and acquires that many pages.
void cycle(PurgeLimit& limit, uint64_t purged, uint64_t taken) {
  limit.count_purged(purged);
  for (uint64_t i = 0; i < taken; ++i) limit.count_acquired();
}

TEST(PurgeLimitTest, IsThirtyTwoPagesAndASixteenthOfThoseInUse) {
  EXPECT_EQ(PurgeLimit().pages(0), kUsual);
  EXPECT_EQ(PurgeLimit().pages(1600), kUsual + 100);
}

TEST(PurgeLimitTest, PagesTakenAgainSoonAreKept) {
  PurgeLimit limit;
  limit.exceed(kLater);
  cycle(limit, 100, 80);
  limit.exceed(kLater + kSoon);
  EXPECT_EQ(limit.pages(0), kUsual + 80);
}

TEST(PurgeLimitTest, NewPagesOfAGrowingProgramAreNotTakenAgain) {
  PurgeLimit limit;
  limit.exceed(kLater);
  cycle(limit, 10, 5000);
  limit.exceed(kLater + kSoon);
  EXPECT_EQ(limit.pages(0), kUsual + 10);
}

TEST(PurgeLimitTest, ShrinkingInSeveralStepsIsOne) {
  PurgeLimit limit;
  for (uint64_t step = 0; step < 4; ++step) {
    limit.exceed(kLater + step);
    limit.count_purged(50);
  }
  cycle(limit, 0, 200);
  limit.exceed(kLater + kSoon);
  EXPECT_EQ(limit.pages(0), kUsual + 200);
}

TEST(PurgeLimitTest, LaterAcquisitionsLowerTheLimit) {
  PurgeLimit limit;
  limit.exceed(kLater);
  cycle(limit, 100, 100);
  limit.exceed(kLater + kSoon);
  cycle(limit, 100, 100);
  limit.exceed(2 * kLater);
  EXPECT_EQ(limit.pages(0), kUsual + 50);
}

TEST(PurgeLimitTest, IsBounded) {
  PurgeLimit limit;
  for (uint64_t now = kLater; now < kLater + 1000; now += kSoon) {
    cycle(limit, 500, 500);
    limit.exceed(now);
  }
  EXPECT_EQ(limit.pages(0), kUsual + 1024);
}

}  // namespace
}  // namespace halo::runtime
