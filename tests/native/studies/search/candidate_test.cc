// The text of candidates.
#include "studies/search/candidate.h"

#include <gtest/gtest.h>

namespace halo::predict {
namespace {

TEST(Candidate, HasGroupsAndVerdicts) {
  Candidate found;
  ASSERT_TRUE(parse_candidate("plan 4096 2 0:0:0 2:1:0 - 1 0+ -", found));
  EXPECT_EQ(found.name, "plan");
  ASSERT_EQ(found.groups.size(), 2u);
  EXPECT_EQ(found.groups[1].flags, plan::kGroupBySize);
  EXPECT_EQ(found.groups[1].reuse, plan::Reuse::kWholeChunks);
  EXPECT_EQ(found.verdict(0, 64).group, 1);
  EXPECT_TRUE(found.verdict(1, 64).align16);
  EXPECT_EQ(found.verdict(2, 64).group, plan::kVerdictForward);
  EXPECT_EQ(found.verdict(9, 64).group, plan::kVerdictForward);
  EXPECT_EQ(found.verdict(0, 4097).group, plan::kVerdictForward) << "larger than max_object";
}

TEST(Candidate, PutsAllOthersIntoAGroup) {
  Candidate found;
  ASSERT_TRUE(parse_candidate("all 64 1 0:0:0 0+", found));
  EXPECT_EQ(found.verdict(1234, 64).group, 0);
  EXPECT_TRUE(found.verdict(1234, 64).align16);
}

TEST(Candidate, IsRefusedIfItIsMalformed) {
  for (const char* line :
       {"", "plan", "plan x 0 -", "plan 64 1 -", "plan 64 1 0:0 -", "plan 64 1 0:9:0 -",
        "plan 64 1 1048576:0:0 -", "plan 64 1 4:0:0 -", "plan 64 1 6:0:0 0", "plan 64 0 0",
        "plan 64 1 0:0:0 1", "plan 64 1 0:0:0 - 0 x", "plan 64 5000 -", "plan 65537 0 -",
        "plan 64 0"}) {
    Candidate found;
    EXPECT_FALSE(parse_candidate(line, found)) << line;
  }
}

}  // namespace
}  // namespace halo::predict
