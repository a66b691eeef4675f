// An object leaves the table when its call site allocates again, or when it is freed.
#include "record/recent_objects.h"

#include <gtest/gtest.h>

namespace halo::record {
namespace {

class RecentObjectsTest : public testing::Test {
 protected:
  uint64_t allocate(uint64_t site, uint64_t address) {
    return objects_.allocate(site, {address, address + 1}).address;
  }

  RecentObjects objects_;
};

TEST_F(RecentObjectsTest, ACallSiteReplacesItsOwnObject) {
  EXPECT_EQ(allocate(1, 0x100), 0u);
  EXPECT_EQ(allocate(2, 0x200), 0u);
  EXPECT_EQ(allocate(1, 0x300), 0x100u);
  EXPECT_EQ(allocate(1, 0x400), 0x300u);
  EXPECT_EQ(allocate(2, 0x500), 0x200u);
}

TEST_F(RecentObjectsTest, AnObjectIsRemovedOnce) {
  allocate(1, 0x100);
  const RecentObjects::Object removed = objects_.remove(0x100);
  EXPECT_EQ(removed.address, 0x100u);
  EXPECT_EQ(removed.size, 0x101u);
  EXPECT_EQ(objects_.remove(0x100).address, 0u);
  EXPECT_EQ(allocate(1, 0x200), 0u);
}

TEST_F(RecentObjectsTest, AnAddressThatIsAllocatedAgainBelongsToTheNewObject) {
  allocate(1, 0x100);
  EXPECT_EQ(allocate(2, 0x100), 0u);
  EXPECT_EQ(allocate(1, 0x200), 0u);
  EXPECT_EQ(allocate(2, 0x300), 0x100u);
}

TEST_F(RecentObjectsTest, OfManyCallSitesTheOldestIsReplaced) {
  for (uint64_t site = 1; site <= RecentObjects::kEntries; ++site)
    EXPECT_EQ(allocate(site, 0x1000 * site), 0u);
  EXPECT_EQ(allocate(1000, 0x100), 0x1000u);
  EXPECT_EQ(allocate(1001, 0x200), 0x2000u);
  EXPECT_EQ(allocate(3, 0x300), 0x3000u);
  EXPECT_EQ(allocate(1000, 0x400), 0x100u);
}

TEST_F(RecentObjectsTest, ManyCallSitesReplaceEachOther) {
  for (uint64_t at = 0; at < 10'000; ++at) {
    const uint64_t replaced = allocate(at % 100, 0x1000 + at);
    EXPECT_EQ(replaced, at < RecentObjects::kEntries ? 0 : 0x1000 + at - RecentObjects::kEntries);
  }
}

}  // namespace
}  // namespace halo::record
