// The choice of sampled pages.
#include "studies/pollution/monitor/sampled_pages.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

namespace halo::watch {
namespace {

// Guo et al., section 6.3: the number of pages to the power of 0.65, rounded up.
TEST(SampleCount, IsThatOfThePaper) {
  EXPECT_EQ(0u, sample_count(0, 0.65));
  EXPECT_EQ(1u, sample_count(1, 0.65));
  EXPECT_EQ(7u, sample_count(16, 0.65));
  EXPECT_EQ(37u, sample_count(256, 0.65));
  EXPECT_EQ(143u, sample_count(2048, 0.65));
  EXPECT_EQ(1186u, sample_count(53600, 0.65));
}

TEST(SampleCount, IsTheCountItselfForWholePowers) {
  EXPECT_EQ(16u, sample_count(16, 1.0));
  EXPECT_EQ(4u, sample_count(16, 0.5));
}

TEST(SampledPages, AreOneOfEachPart) {
  base::Random random(7);
  std::set<uint64_t> seen;
  for (int round = 0; round < 500; ++round) {
    std::vector<uint64_t> pages;
    for_each_sampled(10, 3, random, [&](uint64_t page) { pages.push_back(page); });
    ASSERT_EQ(3u, pages.size());
    EXPECT_LT(pages[0], 3u);
    EXPECT_TRUE(pages[1] >= 3 && pages[1] < 6);
    EXPECT_TRUE(pages[2] >= 6 && pages[2] < 10);
    seen.insert(pages.begin(), pages.end());
  }
  EXPECT_EQ(10u, seen.size());
}

}  // namespace
}  // namespace halo::watch
