// Bursts: everything at first, then a falling share, and what each stands for.
#include "record/valgrind/bursts.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace halo::record::valgrind {
namespace {

// Runs a program for so many superblocks, of which `collected` in a hundred have accesses. Returns
// what the bursts stand for: the weights of the superblocks that were recorded, added up.
struct Tally {
  uint64_t told = 0, stands_for = 0, recorded = 0;
};

Tally run(uint64_t blocks, uint64_t every) {
  Bursts bursts;
  Tally result;
  for (uint64_t at = 0; at < blocks; at += Bursts::kPeriod) {
    auto counter = uint32_t(Bursts::kPeriod);
    result.told += bursts.begins(at, counter);
    for (uint64_t block = 0; block < Bursts::kPeriod; ++block, --counter) {
      if (bursts.recording()) {
        ++result.recorded;
        result.stands_for += bursts.weight();
      }
      if (bursts.recording() && block % every == 0) bursts.ends(counter);
    }
  }
  return result;
}

TEST(Bursts, ShortProgramsAreRecordedAsAWhole) {
  const Tally found = run(Bursts::kPeriod * Bursts::kWholePeriods, 1);
  EXPECT_EQ(found.recorded, Bursts::kPeriod * Bursts::kWholePeriods);
  EXPECT_EQ(found.told, 0u);
}

TEST(Bursts, WeightsMakeUpForWhatIsLeftOut) {
  for (const uint64_t every : {1, 3, 10}) {
    const uint64_t blocks = Bursts::kPeriod * 500;
    const Tally found = run(blocks, every);
    EXPECT_LT(found.recorded, blocks / 4);
    EXPECT_NEAR(double(found.stands_for), double(blocks), 0.02 * double(blocks));
  }
}

TEST(Bursts, TheShareHasALeast) {
  Bursts bursts;
  bursts.begins(Bursts::kPeriod * Bursts::kWholePeriods * Bursts::kLeastShare * 10, 0);
  EXPECT_EQ(bursts.weight(), Bursts::kLeastShare);
}

// Threads that wait are resumed at any time, and run for as long as they like or the core lets
// them.
TEST(Bursts, WeightsMakeUpForWhatIsLeftOutOfThreadsThatWait) {
  for (const uint64_t longest : {5'000ul, 60'000ul, 100'000ul}) {
    Bursts bursts;
    uint64_t blocks = 0, stands_for = 0, seed = 1;
    while (blocks < Bursts::kPeriod * 1000) {
      seed = seed * 6364136223846793005 + 1442695040888963407;
      const uint64_t length = std::min(Bursts::kPeriod, 1 + (seed >> 33) % (2 * longest));
      auto counter = uint32_t(Bursts::kPeriod);
      bursts.begins(blocks, counter);
      for (uint64_t block = 0; block < length; ++block, --counter) {
        if (!bursts.recording()) continue;
        stands_for += bursts.weight();
        if (block % 2 == 0) bursts.ends(counter);
      }
      blocks += length;
    }
    EXPECT_NEAR(double(stands_for), double(blocks), 0.03 * double(blocks)) << longest;
  }
}

}  // namespace
}  // namespace halo::record::valgrind
