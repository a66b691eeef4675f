// The word of a freed block, unchanged and overwritten.
#include "runtime/pages/free_block.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

namespace halo::runtime {
namespace {

class FreeBlock : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(arena.bytes() != 0 || arena.reserve(size_t{1} << 30));
    page_ = arena.acquire(PageKind::kNormal);
    ASSERT_NE(page_, nullptr);
  }
  static Block* block_at(size_t offset) {
    return reinterpret_cast<Block*>(arena.memory_of(*page_) + offset);
  }
  static uint64_t word_of(const Block& block) { return block.word(); }
  static void write(Block& block, uint64_t word) {
    std::memcpy(static_cast<void*>(&block), &word, sizeof word);
  }

  static inline Page* page_ = nullptr;
};

TEST_F(FreeBlock, LinksToTheNextOneAndIsFree) {
  Block& block = *block_at(0);
  for (const size_t offset : {8, 64, 4096, 1 << 15}) {
    block.set_next(block_at(offset));
    EXPECT_EQ(block.next(), block_at(offset));
    EXPECT_TRUE(block.is_free());
  }
  block.set_next(nullptr);
  EXPECT_EQ(block.next(), nullptr);
  EXPECT_TRUE(block.is_free());
  block.clear();
  EXPECT_FALSE(block.is_free());
}

TEST_F(FreeBlock, HoldsNoAddress) {
  Block& block = *block_at(0);
  block.set_next(block_at(64));
  EXPECT_NE(word_of(block), reinterpret_cast<uintptr_t>(block_at(64)));
  const uint64_t here = word_of(block);
  block_at(8)->set_next(block_at(64));
  EXPECT_NE(here, word_of(*block_at(8))) << "the same next block, seen from another place";
}

TEST_F(FreeBlock, OfAnotherPlaceLeadsNowhere) {
  block_at(0)->set_next(block_at(64));
  write(*block_at(8), word_of(*block_at(0)));
  EXPECT_EQ(block_at(8)->next(), nullptr);
  EXPECT_FALSE(block_at(8)->is_free());
}

TEST_F(FreeBlock, LeadsNowhereAfterAChangeOfAnyByte) {
  Block& block = *block_at(0);
  block.set_next(block_at(128));
  const uint64_t word = word_of(block);
  for (unsigned byte = 0; byte < 8; ++byte)
    for (uint64_t change = 1; change < 256; ++change) {
      write(block, word ^ change << (8 * byte));
      ASSERT_EQ(block.next(), nullptr) << byte << " " << change;
      ASSERT_FALSE(block.is_free());
    }
  for (const uint64_t written :
       {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, reinterpret_cast<uint64_t>(block_at(64))}) {
    write(block, written);
    ASSERT_EQ(block.next(), nullptr) << written;
    ASSERT_FALSE(block.is_free());
  }
}

TEST_F(FreeBlock, IsMarkedForItsPlaceOnly) {
  Block& block = *block_at(0);
  EXPECT_FALSE(block.is_marked_freed());
  block.mark_freed();
  EXPECT_TRUE(block.is_marked_freed() && block.is_free());
  write(*block_at(8), word_of(block));
  EXPECT_FALSE(block_at(8)->is_marked_freed());
  block.clear();
  EXPECT_FALSE(block.is_marked_freed() || block.is_free());
}

TEST_F(FreeBlock, LinksInListsAndInPagesAreToldApart) {
  Block& block = *block_at(16);
  const auto next = reinterpret_cast<uintptr_t>(block_at(4096));
  const auto end = arena.base() + 1;
  for (const uintptr_t to : {next, end}) {
    block.link(to);
    EXPECT_TRUE(block.is_linked() && !Block::is_of_page(block.step()));
    EXPECT_EQ(block.behind(block.step()), to);
    for (const bool phase : {false, true}) {
      block.link_in_page(to, phase);
      EXPECT_TRUE(block.is_linked() && Block::is_of_page(block.step()));
      EXPECT_EQ(Block::phase_of(block.step()), phase);
      EXPECT_EQ(block.behind(block.step()), to);
    }
  }
  block.clear();
  EXPECT_FALSE(block.is_linked());
}

// Whatever part of a link is overwritten.
TEST_F(FreeBlock, AnOverwrittenLinkIsSeen) {
  Block& block = *block_at(16);
  int missed = 0;
  for (int bit = 0; bit < 64; ++bit) {
    block.link(reinterpret_cast<uintptr_t>(block_at(32)));
    write(block, word_of(block) ^ uint64_t{1} << bit);
    missed += block.is_linked();
  }
  EXPECT_LE(missed, 1);
}

}  // namespace
}  // namespace halo::runtime
