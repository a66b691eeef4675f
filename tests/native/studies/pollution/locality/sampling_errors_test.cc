// How well sampled pages stand for their object.
#include "studies/pollution/locality/sampling_errors.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace halo::locality {
namespace {

std::vector<Rate> pages(uint64_t count, uint32_t misses_of_even, uint32_t misses_of_odd) {
  std::vector<Rate> found;
  for (uint64_t page = 0; page < count; ++page)
    found.push_back({100, page % 2 == 0 ? misses_of_even : misses_of_odd});
  return found;
}

TEST(SamplingErrors, PagesThatAreAlikeNeedOneSample) {
  SamplingErrors errors(0.65, 1);
  errors.add(1, pages(1, 50, 50));
  errors.add(16, pages(16, 50, 50));
  errors.add(31, pages(31, 20, 20));
  const SamplingErrors::Interval& interval = errors.intervals()[4];
  EXPECT_EQ(2u, interval.objects);
  EXPECT_EQ(47u, interval.pages);
  EXPECT_EQ(2u, interval.within);
  EXPECT_EQ(2u, interval.needed);
  EXPECT_EQ(0u, errors.intervals()[0].objects) << "an object of one page has no error";
}

TEST(SamplingErrors, PagesThatDifferNeedMany) {
  SamplingErrors errors(0.65, 1);
  errors.add(256, pages(256, 0, 100));
  const SamplingErrors::Interval& interval = errors.intervals()[8];
  EXPECT_LT(16u, interval.needed);
  EXPECT_LE(interval.needed, 256u);
}

TEST(SamplingErrors, AllPagesOfASmallObjectHaveNoError) {
  SamplingErrors errors(1, 1);
  errors.add(3, pages(3, 0, 100));
  EXPECT_EQ(1u, errors.intervals()[1].within);
  EXPECT_LE(errors.intervals()[1].needed, 3u);
}

}  // namespace
}  // namespace halo::locality
