// Heap rows include the data of the events behind them.
#include "tracing/tool/allocation_rows.h"

#include <gtest/gtest.h>

namespace halo::trace_tool {
namespace {

class AllocationRowsTest : public testing::Test {
 protected:
  std::vector<AllocationRow> allocated;
  std::vector<FreeRow> freed;
  AllocationRows rows{[this](const AllocationRow& row) { allocated.push_back(row); },
                      [this](const FreeRow& row) { freed.push_back(row); }};
};

TEST_F(AllocationRowsTest, TheSiteBehindAnAllocationDescribesIt) {
  rows.alloc(1, 0, 4096, 48);
  EXPECT_FALSE(rows.site(2, 0, 4096, 17, 3, 16));
  rows.finish(0);
  ASSERT_EQ(allocated.size(), 1u);
  EXPECT_EQ(allocated[0].site, 17);
  EXPECT_EQ(allocated[0].elements, 3u);
  EXPECT_EQ(allocated[0].object, 1);
}

TEST_F(AllocationRowsTest, TheOutermostOfWrappedAllocatorsDecides) {
  rows.alloc(1, 0, 4096, 48);
  rows.site(2, 0, 4096, 17, 48, 1);
  rows.site(2, 0, 4096, 18, 3, 16);
  rows.finish(0);
  ASSERT_EQ(allocated.size(), 1u);
  EXPECT_EQ(allocated[0].site, 18);
}

TEST_F(AllocationRowsTest, APieceOfAPoolIsARowOfItsOwn) {
  rows.alloc(1, 0, 4096, 4096);
  rows.site(2, 0, 4096, 17, 4096, 1);
  EXPECT_TRUE(rows.site(2, 0, 4096, 18, 1, 24));
  EXPECT_TRUE(rows.site(3, 0, 4120, 18, 1, 24));
  rows.finish(0);
  ASSERT_EQ(allocated.size(), 3u);
  EXPECT_EQ(allocated[0].object, 0);
  EXPECT_EQ(allocated[0].bytes, 24u);
  EXPECT_EQ(allocated[2].site, 17);
}

TEST_F(AllocationRowsTest, AnotherThreadsSiteIsNotMistaken) {
  rows.alloc(1, 0, 4096, 16);
  rows.alloc(2, 1, 8192, 16);
  rows.site(3, 1, 8192, 18, 1, 16);
  rows.site(3, 0, 4096, 17, 1, 16);
  rows.finish_below(100);
  ASSERT_EQ(allocated.size(), 2u);
  EXPECT_EQ(allocated[0].site, 17);
  EXPECT_EQ(allocated[1].site, 18);
}

TEST_F(AllocationRowsTest, AReallocThatFailsFreesNothing) {
  rows.alloc(1, 0, 4096, 16);
  rows.free(2, 0, 4096);
  rows.revive(0, 4096);
  rows.finish(0);
  EXPECT_TRUE(freed.empty());
  EXPECT_EQ(rows.objects().find(4100).object, 1);
}

TEST_F(AllocationRowsTest, AReallocMakesAnotherObject) {
  rows.alloc(1, 0, 4096, 16);
  rows.free(2, 0, 4096);
  rows.alloc(3, 0, 4096, 64);
  rows.finish(0);
  ASSERT_EQ(freed.size(), 1u);
  EXPECT_EQ(freed[0].object, 1);
  ASSERT_EQ(allocated.size(), 2u);
  EXPECT_EQ(allocated[1].object, 2);
  EXPECT_FALSE(rows.free(4, 0, 5000)) << "no object begins there";
}

}  // namespace
}  // namespace halo::trace_tool
