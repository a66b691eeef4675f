// Remotely freed blocks come out once each, from the ring or from the list.
#include "runtime/heap/remote_frees.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace halo::runtime {
namespace {

constexpr size_t kBlockBytesHere = 16;
constexpr size_t kBlocksOfPage = kPageSize / kBlockBytesHere;

class RemoteFreesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(arena.bytes() != 0 || arena.reserve(size_t{1} << 30));
    page_ = arena.acquire(PageKind::kNormal);
    ASSERT_NE(page_, nullptr);
    page_->block = kBlockBytesHere;
  }
  static Block* block(size_t number) {
    return reinterpret_cast<Block*>(arena.memory_of(*page_) + number * kBlockBytesHere);
  }
  // Pops until none is left.
  std::vector<Block*> pop_all() {
    std::vector<Block*> found;
    while (Block* each = frees_->pop()) found.push_back(each);
    frees_->make_room();
    return found;
  }

  static inline Page* page_ = nullptr;
  const std::unique_ptr<RemoteFrees> frees_ = std::make_unique<RemoteFrees>();
};

TEST_F(RemoteFreesTest, ComeOutInTheirOrderAndMarked) {
  EXPECT_TRUE(frees_->is_empty());
  for (size_t at = 0; at < 10; ++at) frees_->push(block(at));
  EXPECT_FALSE(frees_->is_empty());
  const std::vector<Block*> found = pop_all();
  ASSERT_EQ(found.size(), 10u);
  for (size_t at = 0; at < 10; ++at) {
    EXPECT_EQ(found[at], block(at));
    EXPECT_TRUE(found[at]->is_marked_freed());
  }
  EXPECT_TRUE(frees_->is_empty());
}

TEST_F(RemoteFreesTest, BlocksBeyondTheRingComeOutToo) {
  for (int round = 0; round < 3; ++round) {
    for (size_t at = 0; at < kBlocksOfPage; ++at) frees_->push(block(at));
    const std::vector<Block*> found = pop_all();
    EXPECT_EQ(std::set<Block*>(found.begin(), found.end()).size(), kBlocksOfPage);
    EXPECT_EQ(found.size(), kBlocksOfPage);
    for (const Block* each : found) EXPECT_TRUE(each->is_marked_freed());
    EXPECT_TRUE(frees_->is_empty());
  }
}

TEST_F(RemoteFreesTest, BytesAreThoseOfTheRingAndTheList) {
  for (size_t at = 0; at < kBlocksOfPage; ++at) {
    frees_->push(block(at));
    ASSERT_EQ(frees_->bytes(), (at + 1) * kBlockBytesHere);
  }
  for (size_t left = kBlocksOfPage; left > 0; --left) {
    ASSERT_EQ(frees_->bytes(), left * kBlockBytesHere);
    ASSERT_NE(frees_->pop(), nullptr);
    frees_->make_room();
  }
  EXPECT_EQ(frees_->bytes(), 0u);
}

TEST_F(RemoteFreesTest, ALinkThatTheProgramHasWrittenToIsNotMarked) {
  for (size_t at = 0; at < kBlocksOfPage; ++at) frees_->push(block(at));
  block(kBlocksOfPage - 1)->clear();  // the newest of the list
  const std::vector<Block*> found = pop_all();
  EXPECT_FALSE(found.back()->is_marked_freed());
  EXPECT_LT(found.size(), kBlocksOfPage) << "those behind it are lost";
}

TEST_F(RemoteFreesTest, EachComesOutOnceWhileOthersPush) {
  constexpr size_t kThreads = 4, kRounds = 200;
  constexpr size_t kEach = kBlocksOfPage / kThreads;
  std::atomic<size_t> returned[kThreads] = {};
  std::vector<std::thread> pushing;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    pushing.emplace_back([&, thread] {
      for (size_t round = 0; round < kRounds; ++round) {
        for (size_t at = 0; at < kEach; ++at) frees_->push(block(thread * kEach + at));
        while (returned[thread].load(std::memory_order_acquire) < (round + 1) * kEach)
          std::this_thread::yield();
      }
    });
  }
  std::vector<size_t> times(kBlocksOfPage);
  for (size_t total = 0; total < kThreads * kEach * kRounds;) {
    Block* found = frees_->pop();
    frees_->make_room();
    if (found == nullptr) continue;
    ++total;
    const auto at = static_cast<size_t>(found - block(0)) * sizeof(Block) / kBlockBytesHere;
    ASSERT_TRUE(found->is_marked_freed());
    ++times[at];
    returned[at / kEach].fetch_add(1, std::memory_order_release);
  }
  for (std::thread& thread : pushing) thread.join();
  for (size_t at = 0; at < kThreads * kEach; ++at) ASSERT_EQ(times[at], kRounds) << at;
  EXPECT_TRUE(frees_->is_empty());
}

}  // namespace
}  // namespace halo::runtime
