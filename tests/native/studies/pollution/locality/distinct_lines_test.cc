// Exact stack distances against a plain set.
#include "studies/pollution/locality/distinct_lines.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace halo::locality {
namespace {

TEST(DistinctLines, AreThoseOfASet) {
  std::mt19937_64 random(1);
  DistinctLines found;
  std::vector<uint64_t> accesses;
  std::vector<DistinctLines::Moment> moments;
  for (int step = 0; step < 30000; ++step) {
    moments.push_back(found.now());
    const uint64_t line = random() % (step % 3 == 0 ? 3000 : 40) * (step % 7 == 0 ? 1 << 16 : 1);
    accesses.push_back(line);
    found.access(line);
    if (step % 1000 != 999) continue;
    for (int question = 0; question < 10; ++question) {
      const size_t from = random() % accesses.size();
      // The access at a moment is the newest line again if the moment did not pass.
      const std::set<uint64_t> expected(accesses.begin() + long(from), accesses.end());
      const uint64_t more = from > 0 && expected.contains(accesses[from - 1]) ? 1 : 0;
      const uint64_t got = found.since(moments[from]);
      EXPECT_LE(expected.size() - more, got);
      EXPECT_LE(got, expected.size());
    }
  }
}

TEST(DistinctLines, CountWholeGroups) {
  DistinctLines found;
  constexpr uint64_t kLines = 5'000'000;
  for (uint64_t line = 0; line < kLines; ++line) found.access(line);
  for (const uint64_t moment : {uint64_t{0}, uint64_t{1}, uint64_t{4096}, uint64_t{4'194'304},
                                uint64_t{4'194'305}, kLines - 1, kLines})
    EXPECT_EQ(kLines - moment, found.since(moment));
  for (uint64_t line = 0; line < 1000; ++line) found.access(line);
  EXPECT_EQ(kLines, found.since(0));
  EXPECT_EQ(1000u, found.since(kLines));
}

}  // namespace
}  // namespace halo::locality
