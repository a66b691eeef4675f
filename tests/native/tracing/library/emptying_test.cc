// Producers and the consumer without a program: each event that enters the rings comes out once, in
// order.
#include "tracing/library/emptying.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <vector>

#include "recorder/events/epoch_merge.h"
#include "tracing/library/producer.h"

// Replaces the library's start code.
namespace halo::logging {
bool ensure_consumer() { return true; }
void wake_consumer() {}
void begin_thread(const Local&) {}
bool is_requested() { return true; }
}  // namespace halo::logging

namespace halo::logging {
namespace {

class Collector final : public Output {
 public:
  bool events(uint32_t thread, std::span<const Logged> events) override {
    if (fails) {
      errno = EIO;
      return false;
    }
    auto& all = of[thread];
    all.insert(all.end(), events.begin(), events.end());
    return true;
  }
  bool end(trace::EndNote& note) override {
    ended = note;
    return true;
  }
  // A marker that passes unchanged.
  std::vector<uint64_t> values(uint32_t thread) const {
    std::vector<uint64_t> result;
    for (const Logged& event : of.at(thread)) {
      if (event.site == uint64_t(trace::Marker::kCount)) result.push_back(event.word1);
    }
    return result;
  }

  std::map<uint32_t, std::vector<Logged>> of;
  trace::EndNote ended{};
  bool fails = false;
};

void log_values(uint64_t count) {
  for (uint64_t at = 0; at < count; ++at) log({uint64_t(trace::Marker::kCount), at, 0});
}

class EmptyingTest : public testing::Test {
 protected:
  void SetUp() override {
    rings.reset();
    reset_producers();
    halo_log_local.state = ThreadState::kRunning;
    halo_log_epoch = 1;
    ASSERT_TRUE(emptying.begin(&output));
  }
  void TearDown() override { halo_log_epoch = 0; }
  void round() { emptying.round(events::owner_key(advance_epoch()), false); }

  Collector output;
  static Emptying emptying;
};
Emptying EmptyingTest::emptying;

TEST_F(EmptyingTest, EmitsLoggedEventsInOrder) {
  log_values(3);
  round();
  EXPECT_EQ(output.values(0), (std::vector<uint64_t>{0, 1, 2}));
  EXPECT_EQ(output.of[0][0].site, uint64_t(trace::Marker::kEpoch));
  log_values(1);
  round();
  EXPECT_EQ(output.values(0).size(), 4u);
}

TEST_F(EmptyingTest, GroupsAreNeverTornAtTheEndOfASegment) {
  uint64_t groups = 0;
  for (; groups < kRecords; ++groups) {
    Logged records[3] = {{}, {uint64_t(trace::Marker::kAlloc), groups, 0}, {3, groups, 0}};
    log_own_epoch(records);
    if (groups % 10000 == 0) round();
  }
  round();
  const std::vector<Logged>& all = output.of[0];
  uint64_t found = 0, key = 0;
  for (size_t at = 0; at < all.size(); ++at) {
    if (all[at].site == uint64_t(trace::Marker::kEpoch)) {
      EXPECT_GE(all[at].word1, key);
      key = all[at].word1;
    }
    if (all[at].site != uint64_t(trace::Marker::kAlloc)) continue;
    ASSERT_EQ(all[at - 1].site, uint64_t(trace::Marker::kEpoch));
    ASSERT_EQ(all[at + 1].site, 3u);
    ASSERT_EQ(all[at].word1, found++);
  }
  EXPECT_EQ(found, groups);
}

TEST_F(EmptyingTest, ThreadsWaitForRoomAndLoseNothing) {
  constexpr uint64_t kCount = 6 * kRecords;
  std::atomic<int> running{2};
  std::vector<std::thread> threads;
  for (int at = 0; at < 2; ++at) {
    threads.emplace_back([&] {
      log_values(kCount);
      end_thread();
      --running;
    });
  }
  while (running != 0) round();
  for (std::thread& thread : threads) thread.join();
  round();
  for (uint32_t thread = 0; thread < 2; ++thread) {
    const std::vector<uint64_t> values = output.values(thread);
    ASSERT_EQ(values.size(), kCount);
    for (uint64_t at = 0; at < kCount; ++at) ASSERT_EQ(values[at], at);
  }
}

TEST_F(EmptyingTest, AThreadsNumberIsUsedAgainAfterItsEnd) {
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::thread([] {
      log_values(5);
      end_thread();
    }).join();
    round();
  }
  EXPECT_EQ(rings.count(), 1u);
  EXPECT_EQ(output.values(0).size(), 15u);
}

TEST_F(EmptyingTest, WhatAnEndedThreadLogsGoesToTheStragglers) {
  std::thread([] {
    log_values(1);
    end_thread();
    log_values(2);
  }).join();
  round();
  EXPECT_EQ(output.values(0).size() + output.values(1).size(), 3u);
}

TEST_F(EmptyingTest, ARecordThatIsNeverFinishedIsLostAtTheEnd) {
  log_values(1);
  halo_log_local.cursor += sizeof(Logged);  // reserved, and left by longjmp
  log_values(1);
  round();
  EXPECT_EQ(output.values(0).size(), 1u);
  emptying.round(~uint64_t{0}, true);
  emptying.end(trace::Ending::kComplete, 0);
  EXPECT_EQ(output.values(0).size(), 2u);
  EXPECT_EQ(output.ended.lost, 1u);
}

TEST_F(EmptyingTest, AFailureEndsLoggingAndCountsWhatIsLost) {
  log_values(10);
  output.fails = true;
  round();
  EXPECT_TRUE(emptying.failed());
  EXPECT_EQ(halo_log_epoch, 0u);
  emptying.end(trace::Ending::kComplete, 0);
  EXPECT_EQ(output.ended.ending, trace::Ending::kNoSpace);
  EXPECT_EQ(output.ended.detail, uint32_t(EIO));
  EXPECT_EQ(output.ended.lost, 11u);  // including the epoch's marker
}

TEST_F(EmptyingTest, NothingIsLoggedWhileItIsOff) {
  halo_log_epoch = 0;
  log_values(10);
  EXPECT_EQ(advance_epoch(), 0u);
  EXPECT_EQ(rings.count(), 0u);
}

}  // namespace
}  // namespace halo::logging
