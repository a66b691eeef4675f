// Addresses resolve to the live object there, or to none.
#include "recorder/analysis/analysis.h"

#include <gtest/gtest.h>

#include "recorder/analysis/shadow_map.h"
#include "recorder/analysis/size_sketch.h"

namespace halo::sinks {
namespace {

using base::ContextId;
using base::ObjectId;
using base::ThreadId;
using events::Kind;
using events::Record;

TEST(ShadowMap, CoversAllGranulesOfAnObjectAcrossLeaves) {
  ShadowMap map;
  const uint64_t start = (5ULL << ShadowMap::kLeafShift) - 32;
  ASSERT_TRUE(map.put(start, 100, ObjectId{9}));
  for (uint64_t at = start; at < start + 100; ++at) EXPECT_EQ(map.find(at), ObjectId{9});
  EXPECT_EQ(map.find(start - 1), ObjectId{0});
  EXPECT_EQ(map.find(start + 112), ObjectId{0});
  EXPECT_EQ(map.leaves(), 2u);
}

TEST(ShadowMap, RefusesAddressesOutsideOfUserSpace) {
  ShadowMap map;
  EXPECT_FALSE(map.put(1ULL << 47, 16, ObjectId{1}));
  EXPECT_TRUE(map.put((1ULL << 47) - 16, 16, ObjectId{1}));
}

TEST(ObjectTable, StoresTheNeighboursInTheSameContext) {
  ObjectTable objects;
  const ObjectId a = objects.add(0x1000, 16, ContextId{0});
  const ObjectId b = objects.add(0x2000, 16, ContextId{1});
  const ObjectId c = objects.add(0x3000, 16, ContextId{0});
  EXPECT_EQ(objects[a].gap_prev, Object::kNone);
  EXPECT_EQ(objects[a].gap_next, 2u);
  EXPECT_EQ(objects[c].gap_prev, 2u);
  EXPECT_EQ(objects[c].gap_next, Object::kNone);
  EXPECT_EQ(objects[b].gap_next, Object::kNone);
}

TEST(ObjectTable, ReusesIdsLateAndNeverTheLatestOfAContext) {
  ObjectTable objects;
  const ObjectId latest = objects.add(0x10, 16, ContextId{1});
  objects.free(latest);
  ObjectId first{}, now{};
  for (size_t at = 0; at < 2 * ObjectTable::kQuarantine; ++at) {
    now = objects.add(0x1000, 16, ContextId{0});
    if (at == 0) first = now;
    if (at > 0 && at < ObjectTable::kQuarantine) {
      ASSERT_NE(now, first);
    }
    ASSERT_NE(now, latest);
    objects.free(now);
  }
  EXPECT_LT(objects.records_used(), ObjectTable::kQuarantine + 16);
}

class AnalysisTest : public testing::Test {
 protected:
  void alloc(uint64_t address, uint64_t size, uint64_t node = 1) {
    feed(Record::make(Kind::kAlloc, address, size));
    feed(Record::make(Kind::kContext, 0, node));
  }
  void access(uint64_t address) { feed(Record::access(address, 3, false, 0, 0)); }
  void feed(Record record) { analysis.consume(ThreadId{0}, {&record, 1}); }
  UsageResult usage() { return analysis.finish().of<UsageResult>(); }

  Analysis analysis{Parameters{}};
};

TEST_F(AnalysisTest, CountsOnlyAccessesWithinALiveObject) {
  alloc(0x10000, 24);
  access(0x10000);
  access(0x10017);
  access(0x10018);  // the allocator's padding behind the object
  feed(Record::make(Kind::kFree, 0x10000, 0));
  access(0x10000);
  EXPECT_EQ(usage().machine_accesses, 2u);
}

TEST_F(AnalysisTest, AStaleGranuleDoesNotResolveToTheNewObject) {
  alloc(0x10000, 256);
  feed(Record::make(Kind::kFree, 0x10000, 0));
  alloc(0x10000, 16);
  access(0x10080);
  EXPECT_EQ(usage().machine_accesses, 0u);
}

TEST_F(AnalysisTest, LargeObjectsAreCountedAsUntracked) {
  alloc(0x10000, 4096);
  alloc(0x20000, 4097);
  access(0x20000);
  EXPECT_EQ(analysis.finish().untracked, 1u);
  EXPECT_EQ(usage().allocations, 1u);
  EXPECT_EQ(usage().machine_accesses, 0u);
}

TEST_F(AnalysisTest, ARevivedObjectLivesOn) {
  alloc(0x10000, 16);
  feed(Record::make(Kind::kFree, 0x10000, 0));
  feed(Record::make(Kind::kRevive, 0x10000, 0));
  access(0x10000);
  EXPECT_EQ(usage().frees, 0u);
  EXPECT_EQ(usage().machine_accesses, 1u);
}

TEST_F(AnalysisTest, LiveBytesAreThoseAtThePeakAndAtTheEnd) {
  alloc(0x10000, 16);
  alloc(0x20000, 32);
  feed(Record::make(Kind::kFree, 0x10000, 0));
  alloc(0x30000, 8);
  EXPECT_EQ(usage().peak_live_bytes, 48u);
  EXPECT_EQ(usage().final_live_bytes, 40u);
}

TEST_F(AnalysisTest, RepeatsCountForTheAccessBefore) {
  alloc(0x10000, 16);
  access(0x10000);
  feed(Record::access(0x999990, 3, false, 0, 0).with_repeats(5));  // not an object
  feed(Record::make(Kind::kFlush, 0, 0).with_repeats(7));
  EXPECT_EQ(usage().machine_accesses, 6u);
}

TEST_F(AnalysisTest, AForkedChildStartsFromZeroWithTheLiveObjects) {
  alloc(0x10000, 16);
  access(0x10000);
  analysis.restart_counts();
  EXPECT_EQ(usage().allocations, 0u);
  EXPECT_EQ(usage().machine_accesses, 0u);
  EXPECT_EQ(usage().peak_live_bytes, 16u);
  access(0x10000);
  EXPECT_EQ(usage().machine_accesses, 1u);
}

TEST_F(AnalysisTest, AForkedChildHasNoEdgesToWhatItsParentAccessed) {
  alloc(0x10000, 16, 1);
  alloc(0x20000, 16, 2);
  access(0x10000);
  analysis.restart_counts();
  access(0x20000);
  const AnalysisResult child = analysis.finish();
  EXPECT_TRUE(child.of<AffinityGraph>().edges.empty());
  EXPECT_EQ(child.of<AffinityGraph>().total_accesses, 1u);
}

TEST_F(AnalysisTest, TheObjectAccessedLastBeforeAForkCountsAgainInTheChild) {
  alloc(0x10000, 16);
  access(0x10000);
  analysis.restart_counts();
  feed(Record::access(0x10000, 4, true, 1, 0));
  const AnalysisResult child = analysis.finish();
  EXPECT_EQ(child.of<AffinityGraph>().total_accesses, 1u);
  EXPECT_EQ(child.of<UsageResult>().contexts[0].alignment, 16u);
}

TEST(SizeSketch, FindsTheFrequentSizesAmongMany) {
  SizeSketch sketch;
  for (uint32_t at = 0; at < 1000; ++at) {
    sketch.add(24);
    if (at % 2 == 0) sketch.add(40);
    if (at % 10 == 0) sketch.add(1000 + at);
  }
  ASSERT_GE(sketch.top().size(), 2u);
  EXPECT_EQ(sketch.top()[0].size, 24u);
  EXPECT_EQ(sketch.top()[0].count, 1000u);
  EXPECT_EQ(sketch.top()[1].size, 40u);
}

}  // namespace
}  // namespace halo::sinks
