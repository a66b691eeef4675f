// The sweep tells accesses to tracked objects from all others, and counts repeats as hits.
#include "recorder/analysis/sweep_sink.h"

#include <gtest/gtest.h>

#include <random>

#include "recorder/analysis/analysis.h"

namespace halo::sinks {
namespace {

using base::ThreadId;
using events::Kind;
using events::Record;

constexpr uint64_t kHeap = 0x100000, kOutside = 0x900000;

class SweepSinkTest : public testing::Test {
 protected:
  void feed(Record record, uint32_t thread = 0) {
    analysis.consume(ThreadId{thread}, {&record, 1});
  }
  void alloc(uint64_t address, uint64_t size) {
    feed(Record::make(Kind::kAlloc, address, size));
    feed(Record::make(Kind::kContext, 0, 1));
  }
  void access(uint64_t address, uint32_t thread = 0) {
    feed(Record::access(address, 3, false, 0, 100), thread);
  }
  SweepResult result() { return analysis.finish().of<SweepResult>(); }

  Analysis analysis{Parameters{}.with<SweepSink>({1})};
};

TEST_F(SweepSinkTest, CountsWhatCachesMissInTheHeapAndElsewhere) {
  std::mt19937 random(1);
  for (uint64_t at = 0; at < 200; ++at) alloc(kHeap + at * 128, 64);
  simulator::CacheSweep<2> by_hand;
  uint64_t accesses[2] = {};
  for (int step = 0; step < 20000; ++step) {
    const bool heap = random() % 4 == 0;
    const uint64_t address = heap ? kHeap + random() % 200 * 128 : kOutside + random() % 65536 * 8;
    access(address);
    by_hand.access(address, 8, heap);
    ++accesses[heap];
  }
  const SweepResult found = result();
  EXPECT_EQ(found.heap, accesses[1]);
  EXPECT_EQ(found.outside, accesses[0]);
  ASSERT_EQ(found.caches.size(), 32u);
  for (const SweptCache& cache : found.caches) {
    EXPECT_EQ(cache.heap, by_hand.misses(cache.bytes, cache.ways, 1));
    EXPECT_EQ(cache.outside, by_hand.misses(cache.bytes, cache.ways, 0));
  }
  EXPECT_EQ(found.caches.front().bytes, 8u << 10);
  EXPECT_EQ(found.caches.back().bytes, 1u << 20);
}

TEST_F(SweepSinkTest, RepeatsBelongToTheThreadsLatestAccess) {
  alloc(kHeap, 64);
  access(kHeap, 0);
  access(kOutside, 1);
  feed(Record::make(Kind::kFlush, 0, 0).with_repeats(5), 0);
  feed(Record::make(Kind::kFlush, 0, 0).with_repeats(7), 1);
  EXPECT_EQ(result().heap, 6u);
  EXPECT_EQ(result().outside, 8u);
  EXPECT_EQ(result().caches.front().heap, 1u);
  EXPECT_EQ(result().caches.front().outside, 1u);
}

TEST_F(SweepSinkTest, AForkedChildStartsWithEmptyCaches) {
  alloc(kHeap, 64);
  access(kHeap);
  analysis.restart_counts();
  EXPECT_EQ(result().heap, 0u);
  access(kHeap);
  EXPECT_EQ(result().caches.back().heap, 1u);
}

TEST(SweepSink, IsOffUnlessAskedFor) {
  EXPECT_FALSE(Parameters{}.need_all_accesses());
  EXPECT_TRUE(Parameters{}.with<SweepSink>({1}).need_all_accesses());
  EXPECT_TRUE(Analysis(Parameters{}).finish().of<SweepResult>().caches.empty());
}

}  // namespace
}  // namespace halo::sinks
