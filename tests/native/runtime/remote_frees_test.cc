// Remotely freed blocks come out once each, from the ring or from the list.
#include "runtime/heap/remote_frees.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace halo::runtime {
namespace {

constexpr size_t block_bytes_here = 16;
constexpr size_t blocks_of_page = page_size / block_bytes_here;

class RemoteFreesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(arena.bytes() != 0 || arena.reserve(size_t{1} << 30));
    page_ = arena.acquire(PageKind::normal);
    ASSERT_NE(page_, nullptr);
    page_->block = block_bytes_here;
  }
  static Block* block(size_t number) {
    return reinterpret_cast<Block*>(arena.memory_of(*page_) + number * block_bytes_here);
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
    for (size_t at = 0; at < blocks_of_page; ++at) frees_->push(block(at));
    const std::vector<Block*> found = pop_all();
    EXPECT_EQ(std::set<Block*>(found.begin(), found.end()).size(), blocks_of_page);
    EXPECT_EQ(found.size(), blocks_of_page);
    for (const Block* each : found) EXPECT_TRUE(each->is_marked_freed());
    EXPECT_TRUE(frees_->is_empty());
  }
}

TEST_F(RemoteFreesTest, BytesAreThoseOfTheRingAndTheList) {
  for (size_t at = 0; at < blocks_of_page; ++at) {
    frees_->push(block(at));
    ASSERT_EQ(frees_->bytes(), (at + 1) * block_bytes_here);
  }
  for (size_t left = blocks_of_page; left > 0; --left) {
    ASSERT_EQ(frees_->bytes(), left * block_bytes_here);
    ASSERT_NE(frees_->pop(), nullptr);
    frees_->make_room();
  }
  EXPECT_EQ(frees_->bytes(), 0u);
}

TEST_F(RemoteFreesTest, ALinkThatTheProgramHasWrittenToIsNotMarked) {
  for (size_t at = 0; at < blocks_of_page; ++at) frees_->push(block(at));
  block(blocks_of_page - 1)->clear();  // the newest of the list
  const std::vector<Block*> found = pop_all();
  EXPECT_FALSE(found.back()->is_marked_freed());
  EXPECT_LT(found.size(), blocks_of_page) << "those behind it are lost";
}

TEST_F(RemoteFreesTest, EachComesOutOnceWhileOthersPush) {
  constexpr size_t threads = 4, rounds = 200;
  constexpr size_t each = blocks_of_page / threads;
  std::atomic<size_t> returned[threads] = {};
  std::vector<std::thread> pushing;
  for (size_t thread = 0; thread < threads; ++thread) {
    pushing.emplace_back([&, thread] {
      for (size_t round = 0; round < rounds; ++round) {
        for (size_t at = 0; at < each; ++at) frees_->push(block(thread * each + at));
        while (returned[thread].load(std::memory_order_acquire) < (round + 1) * each)
          std::this_thread::yield();
      }
    });
  }
  std::vector<size_t> times(blocks_of_page);
  for (size_t total = 0; total < threads * each * rounds;) {
    Block* found = frees_->pop();
    frees_->make_room();
    if (found == nullptr) continue;
    ++total;
    const auto at = static_cast<size_t>(found - block(0)) * sizeof(Block) / block_bytes_here;
    ASSERT_TRUE(found->is_marked_freed());
    ++times[at];
    returned[at / each].fetch_add(1, std::memory_order_release);
  }
  for (std::thread& thread : pushing) thread.join();
  for (size_t at = 0; at < threads * each; ++at) ASSERT_EQ(times[at], rounds) << at;
  EXPECT_TRUE(frees_->is_empty());
}

}  // namespace
}  // namespace halo::runtime
