// The starts of blocks in single-size pages, for each layout, over whole pages.
#include "runtime/heap/page_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "runtime/heap/size_classes.h"

namespace halo::runtime {
namespace {

constexpr uint32_t kLargest = 12288;  // a quarter of 48 KiB

plan::Group masked(uint64_t starts, uint32_t way_shift = 12) {
  const uint32_t flags = plan::kGroupBySize | plan::kGroupMasked | way_shift << plan::kGroupWayBit;
  return {flags, plan::Reuse::kNewestFirst, starts};
}

// `slots` neighbouring slots, from number `first` on.
constexpr uint64_t window(int first, int slots) {
  return std::rotl((uint64_t{1} << slots) - 1, first);
}

// The offsets of all blocks of a page. Checks that the rows are those of single blocks.
std::vector<uint32_t> starts_in(const PageLayout& layout, uint32_t page, uint32_t block,
                                uint32_t most) {
  std::vector<uint32_t> found;
  const uint32_t first = layout.first(page, block);
  for (uint32_t offset = first; offset + block <= kPageSize;) {
    const auto one = layout.row(first, offset, 0, block);
    const auto room = static_cast<uint32_t>(kPageSize) - offset - block;
    const auto row = layout.row(first, offset, std::min(room, most), block);
    EXPECT_EQ(one.count, 1u);
    EXPECT_GE(row.step, block);
    EXPECT_GE(row.count, 1u);
    EXPECT_LE(offset + (row.count - 1) * row.step + block, kPageSize);
    if (row.count > 1) {
      EXPECT_EQ(one.behind, offset + row.step);
    }
    for (uint32_t i = 0; i < row.count; ++i) found.push_back(offset + i * row.step);
    EXPECT_GE(row.behind, found.back() + block);
    offset = row.behind;
  }
  return found;
}

// All size classes up to a quarter of the cache.
std::vector<uint32_t> blocks() {
  std::vector<uint32_t> found;
  for (uint32_t bytes = 8; bytes <= kLargest; bytes += 8)
    if (size_class(bytes) == bytes) found.push_back(bytes);
  return found;
}

void expect_permitted(uint64_t slots, uint32_t way, uint32_t page, uint32_t block) {
  const PageLayout layout{masked(slots, way)};
  const StartMask starts{slots, way};
  for (const uint32_t offset : starts_in(layout, page, block, 4096))
    ASSERT_TRUE(starts.permits(offset))
        << std::hex << slots << " way " << way << " block " << block << " page " << page;
}

TEST(PageLayout, MaskedBlocksStartInPermittedSlots) {
  std::mt19937_64 random(1);
  for (uint32_t way = plan::kMinWay; way <= plan::kMaxWay; ++way)
    for (int round = 0; round < 8; ++round)
      for (const uint32_t block : blocks())
        expect_permitted(random() | 1, way, static_cast<uint32_t>(random() % 1000), block);
}

TEST(PageLayout, LargeBlocksStartInEveryWindow) {
  for (uint32_t way = plan::kMinWay; way <= plan::kMaxWay; ++way)
    for (const uint32_t block : {4096u, 8192u, 12288u, 16384u, 32768u})
      for (int first = 0; first < 64; ++first)
        for (const int slots : {1, 8, 48, 63})
          for (const uint32_t page : {1u, 6u, 63u})
            expect_permitted(window(first, slots), way, page, block);
}

TEST(PageLayout, TheNextPermittedOffsetIsThatOfSteppingByLines) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    const uint64_t few = random() & random() & random();
    const StartMask mask{few | uint64_t{1} << (random() % 64), 12};
    const auto from = static_cast<uint32_t>(random() % kPageSize) / kLine * kLine;
    uint32_t stepped = from;
    while (!mask.permits(stepped)) stepped += kLine;
    ASSERT_EQ(mask.from(from), stepped);
  }
}

TEST(PageLayout, BlocksOfAWayTakeTheSlotsOfAWindowInTurn) {
  for (const uint32_t block : {4096u, 4352u, 8192u}) {
    std::vector<int> starts(64);
    int count = 0;
    for (uint32_t page = 1; page <= 400; ++page)
      for (const uint32_t offset :
           starts_in(PageLayout{masked(window(8, 16))}, page, block, 4096)) {
        ++starts[offset / kLine % 64];
        ++count;
      }
    for (int slot = 8; slot < 24; ++slot) EXPECT_GT(starts[slot], count / 64) << block;
  }
}

TEST(PageLayout, SmallBlocksUseAllLinesOfAWindow) {
  std::vector<int> starts(64);
  for (uint32_t page = 1; page <= 16; ++page)
    for (const uint32_t offset : starts_in(PageLayout{masked(window(0, 32))}, page, 256, 4096))
      ++starts[offset / kLine % 64];
  EXPECT_EQ(std::count(starts.begin(), starts.begin() + 32, 0), 0);
}

TEST(PageLayout, OneSlotForAllBlocks) {
  for (const uint32_t block : {64u, 256u, 1024u, 4096u})
    for (const uint32_t offset : starts_in(PageLayout{masked(1)}, 5, block, 4096))
      ASSERT_EQ(offset / kLine % 64, 0u) << block;
}

TEST(PageLayout, BlocksStartAtALine) {
  constexpr uint32_t kFlags = plan::kGroupBySize | plan::kGroupLineStart;
  plan::Group in_window = masked(window(8, 16));
  in_window.flags |= plan::kGroupLineStart;
  for (const PageLayout& layout : {PageLayout{plan::Group{kFlags, {}, 0}}, PageLayout{in_window}})
    for (const uint32_t block : blocks())
      for (const uint32_t offset : starts_in(layout, 9, block, 4096))
        ASSERT_EQ(offset % kLine, 0u) << block;
}

TEST(PageLayout, PackedBlocksAreAdjacent) {
  const PageLayout layout{plan::Group{plan::kGroupBySize | plan::kGroupPacked, {}, 0}};
  for (const uint32_t block : blocks()) {
    const auto starts = starts_in(layout, 7, block, 4096);
    for (size_t i = 0; i < starts.size(); ++i) ASSERT_EQ(starts[i], i * block);
  }
}

// Any run of as many blocks as the cache has lines starts in all sets equally often.
TEST(PageLayout, ASpreadOverALargeWayIsEven) {
  for (const uint32_t way : {13u, 15u}) {
    const uint32_t all = (1u << way) / kLine;
    for (uint32_t block = kLine; block <= kLargest; block += kLine) {
      std::vector<int> starts(all);
      const BlockSpacing spacing = BlockSpacing::of(block, all);
      uint32_t offset = 0;
      for (uint32_t i = 0; i < 2 * all; ++i, offset = spacing.next(offset))
        ++starts[offset / kLine % all];
      const auto [minimum, maximum] = std::minmax_element(starts.begin(), starts.end());
      ASSERT_LE(*maximum - *minimum, 2) << block << " way " << way;
    }
  }
}

// The share of the first blocks of a group that start in sets with more than `ways` of them.
double share_beyond(const PageLayout& layout, uint32_t all, uint32_t block, int ways,
                    size_t count) {
  std::vector<int> starts(all);
  size_t found = 0;
  for (uint32_t page = 1; found < count; ++page)
    for (const uint32_t offset : starts_in(layout, page, block, 4096)) {
      if (found == count) break;
      ++starts[offset / kLine % all];
      ++found;
    }
  int beyond = 0;
  for (const int here : starts) beyond += std::max(0, here - ways);
  return static_cast<double>(beyond) / static_cast<double>(count);
}

// With three quarters of the lines that 8 ways have, 5.2 % of random starts would exceed them.
TEST(PageLayout, LargeBlocksInPagesOfTheDefaultWayUseAllSets) {
  double sum = 0;
  int sizes = 0;
  for (const uint32_t block : blocks()) {
    if (BlockSpacing::of(block).step == block) continue;
    const double beyond = share_beyond(PageLayout{}, kSets, block, 8, size_t{kSets} * 6);
    ASSERT_LE(beyond, 0.13) << block;
    sum += beyond;
    ++sizes;
  }
  EXPECT_LE(sum / sizes, 0.02);
}

TEST(PageLayout, SpreadBlocksInPagesOfLargeWaysUseAllSets) {
  for (uint32_t way = plan::kMinWay + 1; way <= plan::kMaxWay; ++way) {
    const uint32_t all = (1u << way) / kLine;
    for (const uint32_t block : blocks()) {
      if (BlockSpacing::of(block, all).step == block) continue;
      const PageLayout layout{masked(UINT64_MAX, way)};
      ASSERT_LE(share_beyond(layout, all, block, 8, size_t{all} * 6), 0.03)
          << block << " way " << way;
    }
  }
}

TEST(PageLayout, PagesOfALargeWayHaveOneSpreadBlockLessAtMost) {
  const PageLayout layout{masked(UINT64_MAX, plan::kMaxWay)};
  for (const uint32_t block : blocks()) {
    const uint32_t step = BlockSpacing::of(block, (1u << plan::kMaxWay) / kLine).step;
    if (step == block) continue;
    for (uint32_t page = 1; page <= 200; ++page)
      ASSERT_GE(starts_in(layout, page, block, 4096).size() + 1, kPageSize / step) << block;
  }
}

TEST(PageLayout, TheDefaultIsASpreadOverFourKiB) {
  const PageLayout chosen{masked(UINT64_MAX)}, plain{plan::Group{plan::kGroupBySize, {}, 0}};
  for (const uint32_t block : blocks())
    ASSERT_EQ(starts_in(chosen, 3, block, 4096), starts_in(plain, 3, block, 4096));
}

}  // namespace
}  // namespace halo::runtime
