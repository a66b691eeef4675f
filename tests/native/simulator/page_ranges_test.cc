// Sets of pages, as ranges.
#include "simulator/page_ranges.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace halo::simulator {
namespace {

TEST(PageRanges, HaveThePagesOfASet) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    PageRanges ranges;
    std::set<uint64_t> pages;
    EXPECT_TRUE(ranges.empty());
    for (int step = 0; step < 12; ++step) {
      const uint64_t first = random() % 60, end = first + random() % 9;
      ranges.add(first, end);
      for (uint64_t page = first; page < end; ++page) pages.insert(page);
      for (uint64_t page = 0; page < 70; ++page)
        ASSERT_EQ(ranges.contains(page), pages.contains(page)) << page;
    }
  }
}

}  // namespace
}  // namespace halo::simulator
