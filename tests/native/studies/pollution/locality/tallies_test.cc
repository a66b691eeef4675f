// Miss rates by page, object and context.
#include "studies/pollution/locality/tallies.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace halo::locality {
namespace {

constexpr base::ContextId kContext{3};

void count(Tallies& tallies, uint64_t number, uint32_t page, int accesses, int misses) {
  for (int at = 0; at < accesses; ++at)
    tallies.count(number, uint32_t(page * kPageBytes), at < misses);
}

TEST(Tallies, PagesAreComparedWithTheirObject) {
  Tallies tallies;
  tallies.allocate({1, 0, 3 * kPageBytes, kContext});
  count(tallies, 1, 0, 20, 20);
  count(tallies, 1, 1, 20, 20);
  count(tallies, 1, 2, 20, 8);
  tallies.free(1);
  EXPECT_EQ(1u, tallies.objects().counts()[8]) << "48 of 60";
  EXPECT_EQ(3u, tallies.pages());
  EXPECT_EQ(0u, tallies.near_pages());
  EXPECT_EQ(3u, tallies.contexts()[3].pages);
  EXPECT_EQ(0u, tallies.sure_pages()) << "20 accesses are few";
  EXPECT_EQ(2u, tallies.differences().counts()[20 - 1] + tallies.differences().counts()[20]);
  EXPECT_EQ(1u, tallies.differences().counts()[40 - 1] + tallies.differences().counts()[40]);
}

TEST(Tallies, ContextsHaveTheVarianceOfTheirObjects) {
  Tallies tallies;
  for (uint64_t number = 1; number <= 4; ++number) {
    tallies.allocate({number, 0, 100, kContext});
    count(tallies, number, 0, 10, number % 2 == 0 ? 10 : 0);
  }
  tallies.allocate({5, 0, 100, kContext});
  count(tallies, 5, 0, Tallies::kMinAccesses - 1, 0);
  tallies.finish();
  const Tallies::Context& context = tallies.contexts()[3];
  EXPECT_EQ(5u, context.allocations);
  EXPECT_EQ(4u, context.rated);
  EXPECT_DOUBLE_EQ(0.25, context.variance());
  EXPECT_EQ(2u, tallies.objects().counts()[0]);
  EXPECT_EQ(2u, tallies.objects().counts()[9]);
  EXPECT_EQ(0u, tallies.pages()) << "an object of one page is not compared with it";
}

TEST(Tallies, ContextsHaveAllAccessesAndTheMostLiveBytes) {
  Tallies tallies;
  tallies.allocate({1, 0, 300, kContext});
  tallies.allocate({2, 0, 100, kContext});
  count(tallies, 1, 0, 3, 2);
  tallies.free(1);
  tallies.allocate({3, 0, 200, kContext});
  count(tallies, 3, 0, 20, 1);
  tallies.finish();
  const Tallies::Context& context = tallies.contexts()[3];
  EXPECT_EQ(600u, context.bytes);
  EXPECT_EQ(400u, context.peak_bytes);
  EXPECT_EQ(23u, context.accesses) << "also of objects without a rate";
  EXPECT_EQ(3u, context.misses);
}

}  // namespace
}  // namespace halo::locality
