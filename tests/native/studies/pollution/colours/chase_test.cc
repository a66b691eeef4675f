#include "studies/pollution/colours/chase.h"

#include <gtest/gtest.h>

#include <set>

#include "studies/pollution/colours/page_choice.h"

namespace halo::colours {
namespace {

TEST(PageChoice, SamePagesHaveOneColourAndSpreadOnesAll) {
  const std::vector<uint64_t> frames = {0, 1, 2, 3, 4, 8, 12, 5, 6, 7, 16};
  const auto chosen = choose_pages(frames, 4, 4);
  ASSERT_TRUE(chosen);
  for (const size_t page : chosen->same) EXPECT_EQ(frames[page] % 4, 0u);
  std::multiset<uint64_t> colours;
  for (const size_t page : chosen->spread) colours.insert(frames[page] % 4);
  EXPECT_EQ(colours, (std::multiset<uint64_t>{0, 1, 2, 3}));
}

TEST(PageChoice, ThereMayBeTooFewPages) {
  EXPECT_FALSE(choose_pages({0, 1, 2, 3, 4, 5, 6, 7}, 4, 3));
  EXPECT_FALSE(choose_pages({}, 4, 1));
}

TEST(Chase, EveryLineIsLinkedOnce) {
  const ResidentPages pages(5);
  link_lines(pages, {0, 2, 4}, 7);
  std::set<const void*> seen;
  const void* at = pages[0];
  do {
    seen.insert(at);
    at = *static_cast<void* const*>(at);
  } while (at != pages[0] && seen.size() < 1000);
  EXPECT_EQ(seen.size(), 3 * kPageBytes / kLineBytes);
  for (const void* line : seen) {
    const auto offset = static_cast<const char*>(line) - pages[0];
    EXPECT_EQ(offset / long(kPageBytes) % 2, 0) << "page 1 or 3";
  }
  EXPECT_GT(chase(pages, 0, 10000), 0.1) << "nanoseconds";
}

}  // namespace
}  // namespace halo::colours
