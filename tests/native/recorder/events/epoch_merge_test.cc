// The merge must order an access after its object's allocation and before its free, whatever each
// thread had published when the round began.
#include "recorder/events/epoch_merge.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace halo::events {
namespace {

struct Stream {
  explicit Stream(uint32_t id) { source.thread = base::ThreadId{id}, source.ring = &ring; }
  void own(uint64_t epoch, Record record) {
    ring.put(Record::make(Kind::kEpoch, 0, owner_key(epoch)));
    ring.put(record);
    ring.publish();
  }
  void seen(uint64_t epoch) { ring.put(Record::make(Kind::kEpoch, 0, observer_key(epoch))); }
  void access(uint64_t address) {
    ring.put(Record::access(address, 3, false, 0, 0));
    ring.publish();
  }
  Ring ring{1024};
  MergeSource source;
};

// Runs a round and returns its output, with "a1" for an allocation at address 1, and so on.
std::string round(std::vector<Stream*> streams, uint64_t limit) {
  std::vector<MergeSource*> sources;
  for (Stream* stream : streams) {
    stream->source.end = stream->ring.published();
    sources.push_back(&stream->source);
  }
  std::string out;
  merge_round(std::span(sources), owner_key(limit), [&](base::ThreadId, auto part) {
    for (const Record& record : part) {
      const char* names = "x?a?f";
      if (record.kind() == Kind::kEpoch) continue;
      out += names[int(record.kind())] + std::to_string(record.address()) + ' ';
    }
  });
  return out;
}

TEST(EpochMerge, AccessComesBetweenAllocAndFreeOfOtherThreads) {
  Stream a(0), b(1), c(2);
  a.own(2, Record::make(Kind::kAlloc, 7, 16));
  b.seen(2);
  b.access(7);
  c.own(3, Record::make(Kind::kFree, 7, 0));
  EXPECT_EQ(round({&c, &b, &a}, 10), "a7 x7 f7 ");
}

TEST(EpochMerge, TheOwnerOfAnEpochPrecedesItsObservers) {
  Stream a(0), b(1);
  b.seen(5);
  b.access(1);
  a.own(5, Record::make(Kind::kAlloc, 1, 16));
  EXPECT_EQ(round({&b, &a}, 10), "a1 x1 ");
}

TEST(EpochMerge, WhatReachesTheLimitWaits) {
  Stream a(0), b(1);
  a.own(4, Record::make(Kind::kAlloc, 1, 16));
  a.own(9, Record::make(Kind::kAlloc, 2, 16));
  b.seen(9);
  b.access(2);
  EXPECT_EQ(round({&a, &b}, 9), "a1 ");
  EXPECT_EQ(round({&a, &b}, 10), "a2 x2 ");
}

TEST(EpochMerge, ASegmentGoesOnInTheNextRound) {
  Stream a(0), b(1);
  a.seen(3);
  a.access(1);
  EXPECT_EQ(round({&a, &b}, 4), "x1 ");
  a.access(2);
  EXPECT_EQ(round({&a, &b}, 5), "x2 ");
}

TEST(EpochMerge, AThreadWithoutRecordsDoesNotHoldUpTheOthers) {
  Stream a(0), idle(1);
  for (uint64_t epoch = 2; epoch < 50; ++epoch) a.own(epoch, Record::make(Kind::kFree, epoch, 0));
  EXPECT_EQ(round({&a, &idle}, 100).substr(0, 6), "f2 f3 ");
  EXPECT_EQ(a.source.cursor, a.source.end);
}

TEST(EpochMerge, AFreeMayHaveItsOwnKey) {
  Stream a(0), b(1);
  const auto free = [](Stream& stream, uint64_t address, uint64_t epoch) {
    stream.ring.put(Record::make(Kind::kFree, address, owner_key(epoch)));
    stream.ring.publish();
  };
  a.own(2, Record::make(Kind::kAlloc, 1, 16));
  free(a, 1, 5);
  free(b, 2, 3);
  free(b, 3, 6);
  free(a, 4, 7);
  EXPECT_EQ(round({&a, &b}, 7), "a1 f2 f1 f3 ");
  EXPECT_EQ(round({&b, &a}, 8), "f4 ");
}

TEST(EpochMerge, RunsOfManyThreadsAreInTheOrderOfTheirKeys) {
  std::deque<Stream> streams;
  for (uint32_t id = 0; id < 5; ++id) streams.emplace_back(id);
  std::vector<Stream*> all;
  for (Stream& stream : streams) all.push_back(&stream);
  std::string expected;
  for (uint64_t epoch = 1; epoch < 600; ++epoch) {
    Stream& stream = streams[epoch * epoch / 7 % 5];
    stream.own(epoch, Record::make(Kind::kFree, epoch, 0));
    expected += "f" + std::to_string(epoch) + ' ';
  }
  std::string found;
  for (uint64_t limit = 1; limit < 700; limit += 23) found += round(all, limit);
  EXPECT_EQ(found, expected);
}

TEST(EpochMerge, ASingleThreadNeedsNoLimit) {
  Stream a(0);
  a.own(8, Record::make(Kind::kAlloc, 1, 16));
  a.access(1);
  a.source.end = a.ring.published();
  size_t seen = 0;
  drain_single(a.source, [&](base::ThreadId, auto part) { seen += part.size(); });
  EXPECT_EQ(seen, 3u);
}

TEST(Ring, HoldsItsCapacityAndNoMore) {
  Ring ring(8);
  for (int at = 0; at < 8; ++at) {
    ASSERT_TRUE(ring.has_room(1));
    ring.put(Record::make(Kind::kFree, uint64_t(at), 0));
  }
  EXPECT_FALSE(ring.has_room(1));
  EXPECT_EQ(ring.published(), 0u) << "nothing is visible before publish()";
  ring.publish();
  ring.release(3);
  EXPECT_TRUE(ring.has_room(3));
  EXPECT_FALSE(ring.has_room(4));
  EXPECT_EQ(ring.contiguous(3, 8).size(), 5u);
}

TEST(Record, KeepsItsFields) {
  const Record record = Record::access(0x7fff12345678, 4, true, 2, 0x401000).with_repeats(63);
  EXPECT_EQ(record.address(), 0x7fff12345678u);
  EXPECT_EQ(record.kind(), Kind::kAccess);
  EXPECT_EQ(record.size(), 16u);
  EXPECT_TRUE(record.store());
  EXPECT_EQ(alignment_of_class(record.alignment_class()), 32u);
  EXPECT_EQ(record.repeats(), 63u);
  EXPECT_EQ(record.word1, 0x401000u);
}

}  // namespace
}  // namespace halo::events
