// Group heaps against a shadow model: blocks never overlap, keep their contents, size and
// alignment, and are reused.
#include "runtime/heap/group_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "runtime/blocks.h"
#include "runtime/heap/block_spacing.h"

namespace halo::runtime {
namespace {

constexpr uint32_t kMaxSize = 4096;

enum Kind : uint32_t {
  kMixed,
  kWhole,
  kEqual,
  kOtherMixed,
  kOtherEqual,
  kSmall,
  kMasked,
  kPacked,
  kGroupCount
};
constexpr StartMask kHalfOfTheSlots = {0x0000ffffffff0000, 12};
constexpr uint32_t kMaskedFlags =
    plan::kGroupBySize | plan::kGroupMasked | kHalfOfTheSlots.way_shift << plan::kGroupWayBit;

// One arena serves all tests of the process.
void open_arena() {
  static const plan::Group kGroups[kGroupCount] = {
      {0, plan::Reuse::kNewestFirst, 0},
      {0, plan::Reuse::kWholeChunks, 0},
      {plan::kGroupBySize, plan::Reuse::kNewestFirst, 0},
      {0, plan::Reuse::kNewestFirst, 0},
      {plan::kGroupBySize, plan::Reuse::kNewestFirst, 0},
      {0, plan::Reuse::kNewestFirst, 0},
      {kMaskedFlags, plan::Reuse::kNewestFirst, kHalfOfTheSlots.slots},
      {plan::kGroupBySize | plan::kGroupPacked, plan::Reuse::kNewestFirst, 0},
  };
  if (arena.bytes() != 0) return;
  ASSERT_TRUE(arena.reserve(size_t{8} << 30));
  configure_heaps(kGroups, kMaxSize);
}

class GroupHeapTest : public ::testing::TestWithParam<Kind> {
 protected:
  static void SetUpTestSuite() { open_arena(); }
  static char* make(uint32_t bytes) {
    char* const made = make_block(GetParam(), bytes);
    if (GetParam() == kMasked) {
      const auto offset = static_cast<uint32_t>(made - arena.memory_of(arena.page_of(made)));
      EXPECT_TRUE(kHalfOfTheSlots.permits(offset)) << offset;
    }
    return made;
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, GroupHeapTest,
                         ::testing::Values(kMixed, kWhole, kEqual, kMasked, kPacked));

TEST(BlockBytes, FollowTheSize) {
  EXPECT_EQ(block_bytes(0, false), 8u);
  EXPECT_EQ(block_bytes(1, false), 8u);
  EXPECT_EQ(block_bytes(24, false), 24u);
  EXPECT_EQ(block_bytes(24, true), 32u);
  EXPECT_EQ(block_bytes(0, true), 16u);
  EXPECT_EQ(block_bytes(4096, false), 4096u);
}

TEST(SizeClasses, WasteAtMostASixteenth) {
  unsigned last = 0;
  for (uint32_t bytes = 8; bytes <= 65536; bytes += 8) {
    const uint32_t rounded = size_class(bytes);
    ASSERT_GE(rounded, bytes);
    ASSERT_LE((rounded - bytes) * 16, bytes);
    ASSERT_EQ(size_class(rounded), rounded);
    ASSERT_EQ(rounded % 8, 0u);
    ASSERT_EQ(class_number(bytes), class_number(rounded));
    ASSERT_LE(class_number(bytes) - last, 1u);
    last = class_number(bytes);
  }
}

// The sets of a first-level cache in which neighbouring blocks start; their counts differ by one at
// most.
TEST(BlockSpacing, SpreadsOverAllCacheSets) {
  for (uint32_t block = kLine; block <= kPageSize / 2; block += kLine) {
    const BlockSpacing spacing = BlockSpacing::of(block);
    ASSERT_GE(spacing.step, block);
    ASSERT_LE(spacing.step - block, std::max(block / 16, 1u)) << block;
    std::vector<int> starts(kSets);
    uint32_t offset = 0, before = 0;
    for (uint32_t i = 0; i < 4 * kSets; ++i) {
      ++starts[offset / kLine % kSets];
      before = offset;
      offset = spacing.next(offset);
      ASSERT_GE(offset - before, block);
      ASSERT_LE(offset - before, block + kLine);
    }
    const auto [minimum, maximum] = std::minmax_element(starts.begin(), starts.end());
    ASSERT_LE(*maximum - *minimum, 2) << block;
  }
}

TEST(BlockSpacing, ARowIsTheBlocksInOneStep) {
  for (uint32_t block = 8; block <= 4096; block += 8) {
    const BlockSpacing spacing = BlockSpacing::of(block);
    for (uint32_t offset = 0; offset < kPageSize; offset = spacing.next(offset)) {
      uint32_t count = 1, behind = spacing.next(offset);
      for (uint32_t i = 1; i < 20; ++i) {
        const auto row = spacing.row(offset, i * spacing.step + i % spacing.step);
        ASSERT_EQ(row.count, count) << block << " from " << offset;
        ASSERT_EQ(row.behind, behind) << block << " from " << offset;
        if (behind != offset + count * spacing.step) continue;  // a line is skipped there
        behind = spacing.next(behind);
        ++count;
      }
    }
  }
}

TEST(FirstOffset, CostsAThirtySecondOfTheBlocksAtMost) {
  for (uint32_t block = 8; block <= 65536; block += 8) {
    const uint32_t step = spacing_in_pages(block).step;
    uint32_t blocks = 0, lost = 0;
    for (uint32_t page = 1; page <= 64; ++page) {
      const uint32_t first = first_offset(page, block);
      ASSERT_EQ(first % kLine, 0u);
      ASSERT_LE(first + block, kPageSize) << block;
      const auto here = static_cast<uint32_t>(kPageSize) / step;
      blocks += here;
      if (first > kPageSize / 64) lost += here - (static_cast<uint32_t>(kPageSize) - first) / step;
    }
    ASSERT_LE(lost * 32, blocks) << block;
  }
}

// The blocks of all pages are one row, but for the pages that have a block less.
TEST(FirstOffset, ContinuesThePageBefore) {
  for (const uint32_t block : {4096u, 5120u, 6144u, 8192u, 10240u, 12288u}) {
    std::vector<uint32_t> starts;
    for (uint32_t page = 1; starts.size() < 2000; ++page)
      for (uint32_t at = first_offset(page, block); at + block <= kPageSize;
           at += spacing_in_pages(block).step)
        starts.push_back(at / kLine % kSets);
    for (size_t from = 0; from + 768 <= starts.size(); from += 11) {
      std::vector<int> counts(kSets);
      for (size_t i = from; i < from + 768; ++i) ++counts[starts[i]];
      const auto [minimum, maximum] = std::minmax_element(counts.begin(), counts.end());
      ASSERT_LE(*maximum - *minimum, 5) << block;
    }
  }
}

// Each page uses its share of the 64 sets, however few blocks it has.
TEST(FirstOffset, SpreadsLargeBlocksOfManyPagesOverAllCacheSets) {
  for (const uint32_t block : {1024u, 2048u, 4096u, 8192u, 16384u, 32768u}) {
    const BlockSpacing spacing = spacing_in_pages(block);
    std::vector<int> starts(kSets);
    int count = 0;
    for (uint32_t page = 1; count < 3200; ++page)
      for (uint32_t at = first_offset(page, block); at + block <= kPageSize;
           at = at + spacing.next(0), ++count)
        ++starts[at / kLine % kSets];
    EXPECT_LE(std::count(starts.begin(), starts.end(), 0), 2) << block;
    EXPECT_LT(*std::max_element(starts.begin(), starts.end()), 2 * count / 64) << block;
  }
}

TEST_P(GroupHeapTest, BlocksComeInTheOrderOfAddresses) {
  int in_order = 0;
  const char* before = make(48);
  for (int i = 0; i < 1000; ++i) {
    const char* p = make(48);
    in_order += p == before + 48;
    before = p;
  }
  // Behind each window of the mask, the next block is 2 KiB further on.
  EXPECT_GE(in_order, GetParam() == kMasked ? 970 : 996);
}

TEST(EqualPages, KeepSizesApart) {
  open_arena();
  char* of_small = make_block(kEqual, 24);
  char* of_large = make_block(kEqual, 296);
  EXPECT_NE(arena.index_of(of_small), arena.index_of(of_large));
  EXPECT_EQ(size_of_block(of_small), 24u);
  EXPECT_EQ(size_of_block(of_large), 304u);
  free_block(of_small);
  free_block(of_large);
}

TEST(EqualPages, OfTheSmallestBlocksTakeAllBack) {
  open_arena();
  const uint64_t before = flushed_heap(kOtherEqual).live_bytes();
  std::vector<char*> blocks;
  for (int i = 0; i < 30000; ++i) blocks.push_back(make_block(kOtherEqual, 8));
  for (char* p : blocks) free_block(p);
  EXPECT_EQ(flushed_heap(kOtherEqual).live_bytes(), before);
}

TEST(MixedPages, PutSizesSideBySide) {
  open_arena();
  int side_by_side = 0;
  for (int i = 0; i < 300; ++i) {
    const char* first = make_block(kOtherMixed, 32);
    side_by_side += make_block(kOtherMixed, 64) == first + 32;
  }
  EXPECT_GE(side_by_side, 297);
}

// No block of this size was freed yet, so the cache has no room for the second block of a pair.
TEST(MixedPages, LoseNoBlockOfAPair) {
  open_arena();
  std::set<const char*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.insert(make_block(kOtherMixed, 248));
  int pairs = 0, halves = 0;
  for (const char* p : blocks) {
    if (reinterpret_cast<uintptr_t>(p) % 16 != 0) continue;
    (blocks.contains(p + 248) ? pairs : halves) += 1;
  }
  EXPECT_GE(pairs, 490);
  EXPECT_LE(halves, 10) << "at the ends of pages, and the last one";
}

struct Live {
  uint32_t bytes;
  unsigned char fill;
};

// Random sizes and lifetimes; every block has its own pattern.
TEST_P(GroupHeapTest, KeepsTheShadowModelsInvariants) {
  std::mt19937 random(11);
  std::map<char*, Live> live;
  std::set<char*> freed;
  for (int step = 0; step < 400000; ++step) {
    if (random() % 20000 == 0) flushed_heap(GetParam());
    const bool grow = live.size() < 3000 || random() % 2 == 0;
    if (grow && live.size() < 20000) {
      const uint32_t bytes =
          block_bytes(random() % 8 == 0 ? random() % kMaxSize : random() % 100, random() % 4 == 0);
      char* p = make(bytes);
      ASSERT_NE(p, nullptr);
      ASSERT_TRUE(arena.contains(p));
      const uint32_t alignment = std::min(16u, bytes & (~bytes + 1));
      ASSERT_EQ(reinterpret_cast<uintptr_t>(p) % alignment, 0u);
      const auto usable = static_cast<uint32_t>(size_of_block(p));
      ASSERT_EQ(usable, size_class(bytes));
      const auto above = live.lower_bound(p);
      if (above != live.end()) {
        ASSERT_LE(p + usable, above->first);
      }
      if (above != live.begin()) {
        ASSERT_LE(std::prev(above)->first + std::prev(above)->second.bytes, p);
      }
      const auto fill = static_cast<unsigned char>(random());
      std::memset(p, fill, usable);
      live[p] = {usable, fill};
    } else {
      auto victim = live.lower_bound(std::next(live.begin(), random() % 50)->first);
      const auto [p, what] = *victim;
      for (uint32_t i = 0; i < what.bytes; ++i)
        ASSERT_EQ(static_cast<unsigned char>(p[i]), what.fill);
      free_block(p);
      freed.insert(p);
      live.erase(victim);
    }
  }
  uint64_t bytes = 0;
  for (const auto& [p, what] : live) bytes += what.bytes;
  EXPECT_GE(flushed_heap(GetParam()).live_bytes(), bytes);
  // With empty caches, only blocks in use may be freed, and only by their start.
  for (const auto& [p, what] : live)
    for (uint32_t at = 0; at < what.bytes; at += kGranule / 2)
      ASSERT_EQ(GroupHeap::may_be_in_use(p + at), at == 0) << at;
  for (char* p : freed) ASSERT_EQ(GroupHeap::may_be_in_use(p), live.contains(p));
  for (const auto& [p, what] : live) free_block(p);
}

TEST_P(GroupHeapTest, UsesFreedMemoryAgain) {
  const uint64_t before = arena.pages_used();
  for (int round = 0; round < 50; ++round) {
    std::vector<void*> blocks;
    for (int i = 0; i < 100000; ++i) blocks.push_back(make(56));
    for (void* p : blocks) free_block(p);
  }
  // One round takes under 6 MiB; fifty without reuse would take 270.
  EXPECT_LE(arena.pages_used(), before + 100);
}

TEST_P(GroupHeapTest, EmptyPagesLeaveTheHeap) {
  const GroupHeap& heap = flushed_heap(GetParam());
  const uint64_t before = heap.pages();
  std::vector<char*> blocks;
  for (int i = 0; i < 200000; ++i) blocks.push_back(make(72));
  EXPECT_GE(heap.pages(), before + 200000 * 72 / kPageSize);
  EXPECT_GE(heap.resident_bytes(), heap.live_bytes());
  std::shuffle(blocks.begin(), blocks.end(), std::mt19937(5));
  for (char* p : blocks) free_block(p);
  flushed_heap(GetParam());
  EXPECT_LE(heap.pages(), before + 2);
}

TEST_P(GroupHeapTest, ServesTheNewestFreedBlockFirst) {
  if (GetParam() == kWhole) return;
  flushed_heap(GetParam());
  std::vector<char*> blocks;
  for (int i = 0; i < 800; ++i) blocks.push_back(make(64));
  std::vector<char*> freed;
  for (size_t i = 0; i < blocks.size(); i += 4) freed.push_back(blocks[i]);
  std::shuffle(freed.begin(), freed.end(), std::mt19937(3));
  for (char* p : freed) free_block(p);
  std::vector<char*> again;
  for (size_t i = 0; i < freed.size(); ++i) again.push_back(make(64));
  std::reverse(freed.begin(), freed.end());
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(again[i], freed[i]) << i;
  for (size_t i = 0; i < blocks.size(); ++i)
    if (i % 4 != 0) free_block(blocks[i]);
  for (char* p : again) free_block(p);
}

// Pages serve returned blocks in the order in which they had the first one.
TEST(EqualPages, ServeAgainInTheOrderOfTheirFirstBlock) {
  open_arena();
  flushed_heap(kOtherEqual);
  std::map<uintptr_t, std::vector<char*>> pages;
  while (pages.size() < 4) {
    char* p = make_block(kOtherEqual, 1000);
    pages[arena.index_of(p)].push_back(p);
  }
  std::vector<char*> one_of_each;
  for (const auto& [page, blocks] : pages)
    if (blocks.size() > 1) one_of_each.push_back(blocks[blocks.size() / 2]);
  ASSERT_EQ(one_of_each.size(), 3u) << "the fourth page serves";
  const std::vector<char*> freed{one_of_each[1], one_of_each[2], one_of_each[0]};
  for (char* p : freed) {
    free_block(p);
    flushed_heap(kOtherEqual);
  }
  std::vector<char*> more, again;
  while (again.size() < 3) {
    more.push_back(make_block(kOtherEqual, 1000));
    if (std::find(freed.begin(), freed.end(), more.back()) != freed.end())
      again.push_back(more.back());
    ASSERT_LT(more.size(), 2 * kPageSize / 1000);
  }
  EXPECT_EQ(again, freed);
  for (auto& [page, blocks] : pages)
    for (char* p : blocks)
      if (std::find(freed.begin(), freed.end(), p) == freed.end()) free_block(p);
  for (char* p : more) free_block(p);
}

TEST(MixedPages, FillWideGapsInOrderWithAnySize) {
  open_arena();
  const GroupHeap& heap = flushed_heap(kOtherMixed);
  std::vector<char*> kept, freed;
  for (int i = 0; i < 40000; ++i)
    (i % 64 == 0 ? kept : freed).push_back(make_block(kOtherMixed, 48));
  for (char* p : kept) std::memset(p, 0x5A, 48);
  for (char* p : freed) free_block(p);
  flushed_heap(kOtherMixed);
  const uint64_t pages = heap.pages();
  std::vector<char*> again;
  int side_by_side = 0;
  for (int i = 0; i < 10000; ++i) {
    again.push_back(make_block(kOtherMixed, 80));
    std::memset(again.back(), 0xA5, 80);
    if (i > 0) side_by_side += again.back() == again[again.size() - 2] + 80;
  }
  EXPECT_GE(side_by_side, 9500);
  EXPECT_LE(heap.pages(), pages + 1);
  for (char* p : kept) {
    ASSERT_EQ(std::count(p, p + 48, 0x5A), 48);
    ASSERT_EQ(size_of_block(p), 48u);
    free_block(p);
  }
  for (char* p : again) {
    ASSERT_EQ(std::count(p, p + 80, static_cast<char>(0xA5)), 80);
    free_block(p);
  }
}

// Free pieces of 48 bytes serve no larger block: larger ones get pages of their own, and the pieces
// serve small ones again.
TEST(MixedPages, AreNotAddedWhileFreePiecesAreMany) {
  open_arena();
  const GroupHeap& heap = flushed_heap(kOtherMixed);
  std::vector<char*> blocks, larger;
  for (int i = 0; i < 400000; ++i) blocks.push_back(make_block(kOtherMixed, 48));
  for (size_t i = 0; i < blocks.size(); i += 2) free_block(blocks[i]);
  flushed_heap(kOtherMixed);
  for (int i = 0; i < 5000; ++i) larger.push_back(make_block(kOtherMixed, 400));
  EXPECT_NE(arena.page_of(larger.back()).block, 0u);
  const uint64_t pages = heap.pages();
  for (size_t i = 0; i < blocks.size(); i += 2) blocks[i] = make_block(kOtherMixed, 48);
  EXPECT_LE(heap.pages(), pages + 220) << "4.8 bytes in 48 are pages of equal blocks";
  for (char* p : blocks) free_block(p);
  for (char* p : larger) free_block(p);
}

TEST(SmallGroup, StaysSmallWhateverTheSizes) {
  open_arena();
  std::mt19937 random(1);
  std::vector<void*> live(16);
  for (int i = 0; i < 100000; ++i) {
    void*& block = live[random() % live.size()];
    if (block != nullptr) free_block(block);
    block = make_block(kSmall, static_cast<uint32_t>(8 * (1 + i / 100 % 200)));
  }
  EXPECT_LE(flushed_heap(kSmall).resident_bytes(), 512u * 1024);
  for (void* block : live) free_block(block);
}

TEST_P(GroupHeapTest, OtherThreadsMayFree) {
  constexpr int kRounds = 30, kCount = 20000;
  const uint64_t before = arena.pages_used();
  // Several mailboxes: neither thread needs the processor for each block that the other one
  // handles.
  std::array<std::atomic<uint64_t*>, 64> mailboxes{};
  std::atomic<bool> corrupt{false};
  std::thread consumer([&] {
    for (int i = 0; i < kRounds * kCount; ++i) {
      std::atomic<uint64_t*>& mailbox = mailboxes[i % mailboxes.size()];
      uint64_t* p;
      while ((p = mailbox.exchange(nullptr)) == nullptr) std::this_thread::yield();
      for (int word = 0; word < 4; ++word)
        if (p[word] != reinterpret_cast<uintptr_t>(p) + static_cast<uintptr_t>(word))
          corrupt = true;
      free_block(p);
    }
  });
  std::thread producer([&] {
    for (int i = 0; i < kRounds * kCount; ++i) {
      auto* p = reinterpret_cast<uint64_t*>(make(32));
      for (int word = 0; word < 4; ++word)
        p[word] = reinterpret_cast<uintptr_t>(p) + static_cast<uintptr_t>(word);
      std::atomic<uint64_t*>& mailbox = mailboxes[i % mailboxes.size()];
      while (mailbox.load() != nullptr) std::this_thread::yield();
      mailbox = p;
    }
  });
  producer.join();
  consumer.join();
  EXPECT_FALSE(corrupt);
  EXPECT_LE(arena.pages_used(), before + 20);
}

TEST_P(GroupHeapTest, HeapsOfEndedThreadsAreAdopted) {
  const uint64_t before = arena.pages_used();
  for (int i = 0; i < 100; ++i) std::thread([&] { free_block(make(64)); }).join();
  EXPECT_LE(arena.pages_used(), before + 2);
}

// All memory of an ended thread is released when it is freed.
TEST_P(GroupHeapTest, BlocksOfEndedThreadsLeaveNoPagesBehind) {
  const uint64_t before = arena.pages_used();
  std::vector<char*> left;
  std::thread([&] {
    for (int i = 0; i < 20000; ++i) left.push_back(make(96));
  }).join();
  EXPECT_GE(arena.pages_used(), before + 20);
  for (char* p : left) free_block(p);
  EXPECT_LE(arena.pages_used(), before + 1);
}

TEST(Arena, ContainsExactlyItsRange) {
  open_arena();
  const auto base = reinterpret_cast<const char*>(arena.base());
  EXPECT_TRUE(arena.contains(base));
  EXPECT_TRUE(arena.contains(base + arena.bytes() - 1));
  EXPECT_FALSE(arena.contains(base - 1));
  EXPECT_FALSE(arena.contains(base + arena.bytes()));
  EXPECT_FALSE(arena.contains(nullptr));
}

}  // namespace
}  // namespace halo::runtime
