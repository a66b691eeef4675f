// Blocks freed twice, freed at a wrong address, or written to after their free: no block is ever
// served twice, nor any address outside the heap.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "runtime/blocks.h"
#include "runtime/heap/free_in_page.h"

namespace halo::runtime {
namespace {

constexpr uint32_t kMaxSize = 1024;

// A group of single-size pages, one of mixed-size pages, and one that refills pages when empty.
enum Kind : uint32_t { kEqual, kMixed, kWhole };

void open_heaps() {
  static const plan::Group kGroups[3] = {{plan::kGroupBySize, plan::Reuse::kNewestFirst, 0},
                                         {0, plan::Reuse::kNewestFirst, 0},
                                         {0, plan::Reuse::kWholeChunks, 0}};
  ASSERT_TRUE(arena.bytes() != 0 || arena.reserve(size_t{1} << 30));
  if (first_thread_heap() != nullptr) return;
  configure_heaps(kGroups, kMaxSize);
}

class Misuse : public testing::TestWithParam<Kind> {
 protected:
  static void SetUpTestSuite() { open_heaps(); }
  static char* make(uint32_t bytes = 40) { return make_block(GetParam(), bytes); }
  // Allocates that many blocks as the program does: all different, none in `mine`.
  static void expect_new_blocks(const std::set<char*>& mine, int count = 5000) {
    std::set<char*> seen = mine;
    for (int i = 0; i < count; ++i) {
      char* p = make();
      ASSERT_NE(p, nullptr);
      ASSERT_TRUE(arena.contains(p));
      ASSERT_EQ(reinterpret_cast<uintptr_t>(p) % kGranule, 0u);
      ASSERT_TRUE(seen.insert(p).second) << "served twice";
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, Misuse, testing::Values(kEqual, kMixed, kWhole));

TEST_P(Misuse, FreedTwiceInARow) {
  char* p = make();
  free_block(p);
  const uint64_t live = thread_heap()->bytes_of(GetParam()).live;
  free_block(p);
  EXPECT_EQ(flushed_heap(GetParam()).live_bytes(), live);
  expect_new_blocks({});
}

TEST_P(Misuse, FreedTwiceWithOthersBetween) {
  char *p = make(), *q = make(), *r = make();
  for (char* block : {p, q, r, p, q}) free_block(block);
  expect_new_blocks({});
}

TEST_P(Misuse, FreedTwiceInARowAfterAWrite) {
  char *kept = make(), *p = make();
  free_block(p);
  if (GetParam() == kWhole) return;  // the misuse leaves no trace, and no block is reused soon
  std::memset(p, 1, 16);
  free_block(p);
  expect_new_blocks({kept});
}

// The block is in two lists then, whose links cross. If it returned to its page twice, the page
// would seem to be unused.
TEST_P(Misuse, FreedTwiceWithAWriteAndManyFreesBetween) {
  if (GetParam() == kWhole) return;  // see above
  std::set<char*> kept;
  std::vector<char*> others;
  for (int i = 0; i < 2000; ++i) {
    char* p = make();
    if (i % 10 == 0)
      kept.insert(p);
    else
      others.push_back(p);
  }
  for (size_t i = 0; i < others.size(); ++i) {
    free_block(others[i]);
    if (i < 20 || i % 3 != 0) continue;
    char* const again = others[i - 1 - i % 19];
    std::memset(again, 1, 16);
    free_block(again);
  }
  for (char* p : kept) std::memset(p, 0x5A, 40);
  flushed_heap(GetParam());
  expect_new_blocks(kept, 20000);
  for (char* p : kept)
    for (int i = 0; i < 40; ++i) ASSERT_EQ(p[i], 0x5A);
}

TEST_P(Misuse, FreedTwiceAcrossAFlush) {
  std::vector<char*> all;
  for (int i = 0; i < 3000; ++i) all.push_back(make());
  for (char* p : all) free_block(p);
  flushed_heap(GetParam());
  for (char* p : all) free_block(p);
  expect_new_blocks({});
}

TEST_P(Misuse, FreedInsideAndBehind) {
  char *before = make(), *p = make(), *last = make();
  const uint64_t live = thread_heap()->bytes_of(GetParam()).live;
  for (const int offset : {1, 4, 7, 8, 9, 16, 24, 32}) free_block(p + offset);
  free_block(last + size_of_block(last));
  EXPECT_EQ(thread_heap()->bytes_of(GetParam()).live, live);
  expect_new_blocks({before, p, last});
}

// If a block that is free in its page is freed again, the page must not be released while it is in
// use.
TEST_P(Misuse, FreedAgainWhenItsPageHasIt) {
  std::vector<char*> all;
  for (int i = 0; i < 3000; ++i) all.push_back(make());
  for (char* p : all) free_block(p);
  flushed_heap(GetParam());
  char* last = make();
  for (size_t i = 0; i < all.size(); i += 7)
    if (all[i] != last) free_block(all[i]);
  std::set<char*> mine{last};
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(mine.insert(make()).second);
  flushed_heap(GetParam());
  expect_new_blocks(mine, 20000);
}

TEST_P(Misuse, FreedByAnotherThreadAndByItsOwn) {
  char *p = make(), *q = make(), *r = make();
  std::thread([&] {
    for (char* block : {r, p, q}) free_block(block);
  }).join();
  free_block(p);
  std::set<char*> mine;
  for (int i = 0; i < 200; ++i) {
    char* block = make();
    ASSERT_TRUE(mine.insert(block).second);
    std::memset(block, 0x33, 40);
  }
  flushed_heap(GetParam());
  for (char* block : mine)
    for (int i = 0; i < 40; ++i) ASSERT_EQ(block[i], 0x33);
  expect_new_blocks(mine);
}

TEST_P(Misuse, FreedByTwoThreads) {
  char *p = make(), *q = make();
  std::thread([&] {
    for (char* block : {p, p, q, p, q}) free_block(block);
    free_block(p + 8);
  }).join();
  free_block(p);
  flushed_heap(GetParam());  // collects the remote frees
  free_block(q);
  expect_new_blocks({});
}

TEST_P(Misuse, WrittenToAfterTheFree) {
  static uint64_t target[64];
  std::vector<char*> freed;
  for (int i = 0; i < 64; ++i) freed.push_back(make());
  for (char* p : freed) free_block(p);
  uintptr_t address = reinterpret_cast<uintptr_t>(target);
  for (char* p : freed) std::memcpy(p, &address, sizeof address);
  for (int i = 0; i < 200; ++i) {
    char* p = make();
    ASSERT_TRUE(arena.contains(p));
  }
  expect_new_blocks({});
}

// The blocks behind an overwritten link are lost, and their page is never released: its count of
// used blocks may be wrong.
TEST(MisuseOfEqualPages, AnOverwrittenLinkKeepsThePage) {
  open_heaps();
  GroupHeap& heap = flushed_heap(kEqual);
  const uint64_t before = heap.pages();
  std::vector<char*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(make_block(kEqual, 632));
  Page& page = arena.page_of(blocks[7]);
  for (char* p : {blocks[5], blocks[6], blocks[7]}) {
    ASSERT_EQ(&arena.page_of(p), &page);
    free_block(p);
  }
  std::memset(blocks[7], 0x21, 8);
  for (int i = 0; i < 100; ++i) {
    char* const p = make_block(kEqual, 632);
    for (char* lost : {blocks[5], blocks[6], blocks[7]}) ASSERT_NE(p, lost);
    free_block(p);
  }
  for (char* p : blocks)
    if (p != blocks[5] && p != blocks[6] && p != blocks[7]) free_block(p);
  EXPECT_GE(flushed_heap(kEqual).pages(), before + 1);
  EXPECT_EQ(page.heap, &heap);
}

// A page without an owner and a thread without a heap look alike.
TEST(MisuseOfEqualPages, AFreedPageTakesNoBlockOfAThreadWithoutAHeap) {
  open_heaps();
  char* const p = make_block(kEqual, 712);
  Page& page = arena.page_of(p);
  free_block(p);
  flushed_heap(kEqual);
  ASSERT_EQ(page.thread.load(), nullptr);
  std::memset(p, 0, 8);
  static bool refused = false;
  std::thread([&] {
    ASSERT_EQ(current_heap, nullptr);
    free_in_page(page, p, [](void*) { refused = true; });
  }).join();
  EXPECT_TRUE(refused);
}

TEST_P(Misuse, WrittenToInThePages) {
  std::vector<char*> all;
  for (int i = 0; i < 4000; ++i) all.push_back(make());
  std::set<char*> kept;
  for (size_t i = 0; i < all.size(); ++i)
    if (i % 500 == 0)
      kept.insert(all[i]);
    else
      free_block(all[i]);
  flushed_heap(GetParam());
  for (char* p : all)
    if (!kept.contains(p)) std::memset(p, 0x41, 32);
  expect_new_blocks(kept);
  flushed_heap(GetParam());
  expect_new_blocks(kept);
}

// Whatever happens to freed blocks, those in use stay separate and keep their contents.
TEST_P(Misuse, AtRandom) {
  std::mt19937 random(7);
  std::map<char*, uint32_t> live;
  std::vector<char*> gone;
  const auto overlaps = [&](char* p, uint32_t bytes) {
    auto after = live.lower_bound(p);
    if (after != live.end() && after->first < p + bytes) return true;
    return after != live.begin() && std::prev(after)->first + std::prev(after)->second > p;
  };
  for (int step = 0; step < 100000; ++step) {
    const auto chance = random() % 1000;
    if (chance < 5 && !gone.empty()) {
      char* p = gone[random() % gone.size()];
      if (!overlaps(p, 8)) std::memset(p, static_cast<int>(chance), 8);
    } else if (chance < 6) {
      flushed_heap(GetParam());
    } else if (chance < 40 && !live.empty()) {
      char* p = std::next(live.begin(), static_cast<long>(random() % live.size() % 50))->first;
      free_block(p + 1 + random() % 31);
    } else if (live.size() < 500 || chance < 520) {
      const auto bytes = static_cast<uint32_t>(32 + random() % 9 * 8);
      char* p = make(bytes);
      if (p == nullptr) continue;
      ASSERT_FALSE(overlaps(p, bytes)) << step;
      std::memset(p, 0x55, bytes);
      live[p] = bytes;
    } else {
      const auto found = std::next(live.begin(), static_cast<long>(random() % live.size() % 50));
      for (uint32_t i = 0; i < found->second; ++i) ASSERT_EQ(found->first[i], 0x55);
      gone.push_back(found->first);
      free_block(found->first);
      if (random() % 10 == 0) free_block(found->first);
      live.erase(found);
    }
  }
}

}  // namespace
}  // namespace halo::runtime
