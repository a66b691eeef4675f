// The clock of pages against a list of its traps.
#include "studies/pollution/locality/page_clock.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace halo::locality {
namespace {

TEST(PageClock, SamplesOnePageOfItsRate) {
  for (const uint32_t rate : {1u, 8u, 128u}) {
    const PageClock clock({rate, 100});
    uint32_t sampled = 0;
    for (uint32_t page = 0; page < 128'000; ++page) sampled += clock.samples(page);
    EXPECT_NEAR(128'000.0 / rate, sampled, 4'000.0 / rate + 40) << rate;
  }
}

TEST(PageClock, PagesAreArmedAgainAfterALengthOfTime) {
  PageClock clock({1, 3 * PageClock::kLinesOfPage});
  EXPECT_TRUE(clock.reference(0, 64));
  EXPECT_FALSE(clock.reference(0, 64));
  EXPECT_TRUE(clock.reference(1, 64));
  EXPECT_TRUE(clock.reference(2, 64));
  EXPECT_FALSE(clock.reference(0, 64)) << "two pages later";
  EXPECT_TRUE(clock.reference(3, 64));
  EXPECT_TRUE(clock.reference(0, 64)) << "three pages later";
  EXPECT_EQ(5u, clock.now());
  EXPECT_EQ(5u * PageClock::kLinesOfPage, clock.accesses());
}

TEST(PageClock, DistancesAreThoseOfTheLastTraps) {
  constexpr uint32_t kRate = 4;
  std::mt19937_64 random(1);
  PageClock clock({kRate, 500});
  std::map<uint32_t, std::pair<uint64_t, double>> last;  // by page: its last trap, and its lines
  std::vector<uint64_t> moments;
  for (int step = 0; step < 20'000; ++step) {
    const auto page = uint32_t(random() % (step % 5 == 0 ? 600 : 60));
    const double lines = 1 + double(page % 16) / 16;
    if (clock.reference(page, lines)) last[page] = {clock.now() - 1, lines};
    moments.push_back(clock.now());
    if (step % 500 != 499) continue;
    for (int question = 0; question < 20; ++question) {
      const uint64_t moment = moments[random() % moments.size()];
      double expected = 0;
      uint32_t pages = 0;
      for (const auto& [number, trap] : last) {
        if (trap.first < moment) continue;
        ++pages;
        expected += trap.second * kRate;
      }
      const bool known = pages >= PageClock::kMinPages;
      EXPECT_NEAR(known ? expected : 0, double(clock.lines_since(moment)), 1);
    }
  }
}

}  // namespace
}  // namespace halo::locality
