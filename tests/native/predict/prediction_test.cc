// Stored traces, and their replay through the runtime's heaps.
#include "predict/prediction.h"

#include <gtest/gtest.h>

#include <set>

#include "layout/packing.h"

namespace halo::predict {
namespace {

constexpr base::ThreadId thread{};

objects::Allocation allocation(uint64_t number, uint64_t address, uint32_t size, uint32_t context) {
  return {number, address, size, base::ContextId{context}};
}

Candidate candidate(const char* line) {
  Candidate found;
  EXPECT_TRUE(parse_candidate(line, found));
  return found;
}

TEST(StoredEvent, KeepsItsFields) {
  const auto object = StoredEvent::object(4000000000u, 4095, 16, true);
  EXPECT_EQ(object.kind(), StoredEvent::Kind::kObject);
  EXPECT_EQ(object.number(), 4000000000u);
  EXPECT_EQ(object.offset(), 4095u);
  EXPECT_EQ(object.size(), 16u);
  EXPECT_TRUE(object.store());
  const auto outside = StoredEvent::outside(0x7fff12345678, 1, false);
  EXPECT_EQ(outside.kind(), StoredEvent::Kind::kOutside);
  EXPECT_EQ(outside.address(), 0x7fff12345678u);
  EXPECT_EQ(outside.size(), 1u);
  EXPECT_FALSE(outside.store());
  EXPECT_EQ(StoredEvent::of(StoredEvent::Kind::kFree, 7).number(), 7u);
}

TEST(StoredTrace, KeepsOneOfSeveralStretches) {
  StoredTrace trace(4);
  trace.allocate(allocation(1, 0x1000, 64, 0));
  for (uint64_t at = 0; at < 10 * StoredTrace::kStretch; ++at) trace.access(thread, 1, 0, 8, false);
  EXPECT_EQ(trace.accesses(), 10 * StoredTrace::kStretch);
  EXPECT_EQ(trace.kept(), 3 * StoredTrace::kStretch);
  EXPECT_EQ(trace.events().size(), 3 * StoredTrace::kStretch + 1);
}

// Objects that alternate between two contexts.
StoredTrace alternating(uint64_t count) {
  StoredTrace trace(1);
  for (uint64_t at = 1; at <= count; ++at)
    trace.allocate(allocation(at, at * 4096, 32, uint32_t(at % 2)));
  for (uint64_t at = 1; at <= count; at += 2) trace.access(thread, at, 0, 8, false);
  return trace;
}

TEST(Prediction, LeavesForwardedObjectsWhereTheyWere) {
  std::vector<uint64_t> addresses;
  const auto found =
      predict(alternating(100), simulator::this_machine(), candidate("none 4096 0 -"), &addresses);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->peak_bytes, 0u);
  EXPECT_EQ(found->misses.accesses, 50u);
  EXPECT_EQ(found->misses.caches[0], 50u) << "each has a page of its own";
  for (uint64_t at = 1; at <= 100; ++at) EXPECT_EQ(addresses[at], at * 4096);
}

TEST(Prediction, PlacesGroupsApart) {
  std::vector<uint64_t> addresses;
  const auto found = predict(alternating(100), simulator::this_machine(),
                             candidate("two 4096 2 0:0:0 0:0:0 - 0 1"), &addresses);
  ASSERT_TRUE(found);
  std::set<uint64_t> pages[2], lines;
  for (uint64_t at = 1; at <= 100; ++at) {
    EXPECT_GE(addresses[at], layout::kFirstAddress);
    pages[at % 2].insert(addresses[at] >> 16);
    if (at % 2 == 1) lines.insert(addresses[at] / 64);
  }
  EXPECT_NE(*pages[0].begin(), *pages[1].begin());
  EXPECT_EQ(found->peak_bytes, (pages[0].size() + pages[1].size()) << 16);
  EXPECT_LE(lines.size(), 26u) << "dense objects share lines";
  EXPECT_LE(found->misses.caches[0], lines.size());
}

TEST(Prediction, ReusesFreedBlocks) {
  StoredTrace trace(1);
  for (uint64_t at = 1; at <= 1000; ++at) {
    trace.allocate(allocation(at, at * 4096, 48, 0));
    trace.free(at);
  }
  std::vector<uint64_t> addresses;
  ASSERT_TRUE(
      predict(trace, simulator::this_machine(), candidate("all 4096 1 2:0:0 0"), &addresses));
  const std::set<uint64_t> places(addresses.begin() + 1, addresses.end());
  EXPECT_LE(places.size(), 2u);
}

}  // namespace
}  // namespace halo::predict
