// The bytes of all grouped objects: exact while nothing changes, close to it while threads work.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "runtime/accounting/grouped_memory.h"
#include "runtime/blocks.h"

namespace halo::runtime {
namespace {

constexpr plan::Group kGroups[3] = {{0, plan::Reuse::kNewestFirst, 0},
                                    {0, plan::Reuse::kWholeChunks, 0},
                                    {plan::kGroupBySize, plan::Reuse::kNewestFirst, 0}};

class GroupedMemoryTest : public testing::TestWithParam<uint32_t> {
 protected:
  static void SetUpTestSuite() {
    if (arena.bytes() != 0) return;
    ASSERT_TRUE(arena.reserve(size_t{1} << 30));
    configure_heaps(kGroups, 4096);
  }
  static std::vector<char*> make(size_t count, uint32_t bytes) {
    std::vector<char*> made;
    for (size_t at = 0; at < count; ++at) made.push_back(make_block(GetParam(), bytes));
    return made;
  }
  static void free(const std::vector<char*>& blocks) {
    for (char* block : blocks) free_block(block);
  }
};

INSTANTIATE_TEST_SUITE_P(Groups, GroupedMemoryTest, testing::Values(0, 1, 2));

TEST_P(GroupedMemoryTest, BlocksInUseCountAndFreedOnesDoNot) {
  const uint64_t before = grouped_memory().live;
  std::vector<char*> kept = make(1000, 48), freed = make(3000, 56);
  EXPECT_EQ(grouped_memory().live - before, 1000u * 48 + 3000u * 56);
  free(freed);
  EXPECT_EQ(grouped_memory().live - before, 1000u * 48);
  free(kept);
  EXPECT_EQ(grouped_memory().live, before);
}

// More of them than the ring of remote frees has places for, and fewer.
TEST_P(GroupedMemoryTest, WhatOthersFreeDoesNotCountWhileItsOwnerWaits) {
  for (const size_t count : {100u, 5000u}) {
    const uint64_t before = grouped_memory().live;
    const std::vector<char*> blocks = make(count, 96);
    std::thread([&] { free(blocks); }).join();
    EXPECT_EQ(grouped_memory().live, before);
    flushed_heap(GetParam());
    EXPECT_EQ(grouped_memory().live, before) << "after the owner has collected them";
  }
}

#ifndef HALO_THREAD_SANITIZER  // the fast paths count without atomics; words are read as a whole
TEST_P(GroupedMemoryTest, IsNearlyRightWhileThreadsWork) {
  constexpr size_t kThreads = 4, kKeptBlocks = 4000, kPassing = 200;
  constexpr uint32_t kBytes = 256;
  const uint64_t before = grouped_memory().live;
  std::atomic<size_t> ready{0};
  std::atomic<bool> ends{false};
  std::vector<std::thread> working;
  for (size_t thread = 0; thread < kThreads; ++thread)
    working.emplace_back([&] {
      const std::vector<char*> kept = make(kKeptBlocks, kBytes);
      ++ready;
      while (!ends) free(make(kPassing, kBytes));
      free(kept);
    });
  while (ready != kThreads) std::this_thread::yield();
  constexpr uint64_t kLeast = kThreads * kKeptBlocks * kBytes;
  // What a cache holds or flushes at once may count twice or not at all.
  constexpr uint64_t kSlack = kThreads * (kPassing * kBytes + 128 * 1024);
  for (int poll = 0; poll < 20000; ++poll) {
    const GroupedMemory now = grouped_memory();
    ASSERT_GE(now.live - before + kSlack, kLeast);
    ASSERT_LE(now.live - before, kLeast + kSlack);
    ASSERT_LE(now.live, now.active);
    ASSERT_LE(now.active, now.resident);
    ASSERT_LE(now.resident, now.mapped);
  }
  ends = true;
  for (std::thread& thread : working) thread.join();
  EXPECT_EQ(grouped_memory().live, before);
}
#endif

TEST_P(GroupedMemoryTest, PurgingLeavesNoFreePageInMemory) {
  std::vector<char*> blocks = make(20000, 64);
  const std::vector<char*> kept(blocks.begin(), blocks.begin() + 100);
  blocks.erase(blocks.begin(), blocks.begin() + 100);
  for (char* block : kept) std::memset(block, 7, 64);
  free(blocks);
  EXPECT_GT(purge_grouped_memory(), 0u);
  const GroupedMemory now = grouped_memory();
  EXPECT_EQ(now.resident, now.active);
  EXPECT_LT(now.resident, uint64_t{1} << 20);
  for (const char* block : kept) EXPECT_EQ(block[63], 7);
  EXPECT_EQ(purge_grouped_memory(), 0u);
  free(kept);
}

// A page that is being purged has no owner.
TEST_P(GroupedMemoryTest, PurgingDoesNotDisturbOthers) {
  std::atomic<bool> ends{false};
  std::atomic<int> damaged{0};
  std::vector<std::thread> working;
  for (int thread = 1; thread <= 3; ++thread)
    working.emplace_back([&, thread] {
      std::mt19937 random(static_cast<unsigned>(thread));
      while (!ends) {
        const std::vector<char*> blocks = make(random() % 4000, 128);
        for (char* block : blocks) std::memset(block, thread, 128);
        for (const char* block : blocks) damaged += block[127] != thread;
        free(blocks);
      }
    });
  for (int round = 0; round < 300; ++round) purge_grouped_memory();
  ends = true;
  for (std::thread& thread : working) thread.join();
  EXPECT_EQ(damaged, 0);
}

}  // namespace
}  // namespace halo::runtime
