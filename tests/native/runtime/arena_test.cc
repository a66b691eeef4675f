// The pages that an arena returns, and the free pages that it leaves in memory.
#include "runtime/pages/arena.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace halo::runtime {
namespace {

constexpr size_t kSystemPages = kPageSize / kSystemPage;

class ArenaTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(arena_.reserve(size_t{1} << 30)); }

  // Acquires a page and writes to it.
  Page* take(PageKind kind = PageKind::kNormal) {
    Page* page = arena_.acquire(kind);
    std::memset(arena_.memory_of(*page), 1, kPageSize);
    page->touched = kSystemPages;
    return page;
  }
  bool is_resident(const Page& page) const {
    std::array<unsigned char, kSystemPages> pages{};
    EXPECT_EQ(mincore(arena_.memory_of(page), kPageSize, pages.data()), 0);
    bool any = false;
    for (const unsigned char is_in_memory : pages) any = any || (is_in_memory & 1) != 0;
    return any;
  }
  size_t resident(const std::vector<Page*>& pages) const {
    size_t count = 0;
    for (const Page* page : pages) count += is_resident(*page);
    return count;
  }

  Arena arena_;
};

TEST_F(ArenaTest, KeepsThirtyTwoFreePagesAndASixteenthOfThoseInUse) {
  std::vector<Page*> pages;
  for (int i = 0; i < 320; ++i) pages.push_back(take());
  std::vector<Page*> freed;
  for (int i = 0; i < 160; ++i) {
    freed.push_back(pages[static_cast<size_t>(2 * i)]);
    arena_.release(*freed.back());
  }
  EXPECT_EQ(arena_.pages_used(), 160u);
  EXPECT_LE(resident(freed), 32u + 160 / 16);
  EXPECT_GE(resident(freed), 1u);
  for (int i = 0; i < 160; ++i) arena_.release(*pages[static_cast<size_t>(2 * i + 1)]);
  EXPECT_LE(resident(pages), 32u);
  EXPECT_EQ(arena_.pages_used(), 0u);
}

TEST_F(ArenaTest, PrefersPagesInMemory) {
  std::vector<Page*> pages;
  for (int i = 0; i < 16; ++i) pages.push_back(take());
  arena_.release(*pages[3]);
  arena_.release(*pages[9]);
  EXPECT_EQ(arena_.acquire(PageKind::kNormal), pages[3]);
  EXPECT_EQ(pages[3]->touched, kSystemPages);
  EXPECT_EQ(arena_.acquire(PageKind::kNormal), pages[9]);
  const Page* fresh = arena_.acquire(PageKind::kNormal);
  EXPECT_EQ(arena_.link_of(*fresh), arena_.link_of(*pages[15]) + 1);
  EXPECT_EQ(fresh->touched, 0u);
}

TEST_F(ArenaTest, PurgedPagesAreZero) {
  std::vector<Page*> pages;
  for (int i = 0; i < 64; ++i) pages.push_back(take());
  for (Page* page : pages) arena_.release(*page);
  int zero = 0;
  for (int i = 0; i < 64; ++i) {
    const Page* page = arena_.acquire(PageKind::kNormal);
    const bool was_zero = *arena_.memory_of(*page) == 0;
    EXPECT_EQ(was_zero, page->touched == 0) << i;
    zero += was_zero;
  }
  EXPECT_GE(zero, 32);
}

TEST_F(ArenaTest, KeepsKindsOfPagesInSlabsOfTheirOwn) {
  std::set<uint32_t> slabs[2];
  for (int i = 0; i < 200; ++i) {
    const auto kind = i % 3 == 0 ? PageKind::kHuge : PageKind::kNormal;
    const Page* page = take(kind);
    if (!arena_.huge_pages().wanted()) break;  // they are slow here: all later pages are normal
    slabs[i % 3 == 0].insert((arena_.link_of(*page) - 1) / kSlabPages);
  }
  for (const uint32_t slab : slabs[1]) EXPECT_FALSE(slabs[0].contains(slab));
}

TEST_F(ArenaTest, PurgesAHugePageOnlyAsAWhole) {
  std::vector<Page*> pages;
  for (int i = 0; i < 64; ++i) pages.push_back(take(PageKind::kHuge));
  if (!arena_.huge_pages().wanted()) GTEST_SKIP() << "huge pages come slowly here";
  for (int i = 0; i < 63; ++i) arena_.release(*pages[static_cast<size_t>(i)]);
  EXPECT_EQ(resident({pages.begin(), pages.begin() + 32}), 0u);
  EXPECT_EQ(resident({pages.begin() + 32, pages.end()}), 32u) << "one is in use";
}

TEST(GrowingArena, TakesFewAddressesAndMoreAsPagesAreTaken) {
  Arena arena;
  ASSERT_TRUE(arena.reserve(size_t{1} << 30));
  EXPECT_LE(arena.bytes(), kSlabSize);
  size_t taken = 0;
  for (PageKind kind = PageKind::kNormal; Page* page = arena.acquire(kind);
       kind = ++taken % 3 == 0 ? PageKind::kHuge : PageKind::kNormal) {
    ASSERT_TRUE(arena.contains(arena.memory_of(*page)));
    *arena.memory_of(*page) = 1;
    arena.starts_of(*page)->store(1);
    arena.bits_of(*page)->free = 1;
    ASSERT_LE(arena.bytes(), (taken + 1) * kPageSize * 9 / 8 + 3 * kSlabSize);
  }
  EXPECT_GE(taken, (size_t{1} << 30) / kPageSize - kSlabPages);
  EXPECT_EQ(arena.bytes(), size_t{1} << 30);
  EXPECT_EQ(arena.pages_used(), taken);
}

TEST(GrowingArena, LeavesAloneWhatLiesInItsWay) {
  Arena arena;
  ASSERT_TRUE(arena.reserve(size_t{1} << 30));
  auto* there = reinterpret_cast<char*>(arena.base()) + (size_t{16} << 20);
  void* other = mmap(there, kSystemPage, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(other, there);
  *there = 77;
  size_t taken = 0;
  while (arena.acquire(PageKind::kNormal) != nullptr) ++taken;
  EXPECT_EQ(taken, (size_t{16} << 20) / kPageSize);
  EXPECT_FALSE(arena.contains(there));
  EXPECT_EQ(*there, 77);
  munmap(there, kSystemPage);
  EXPECT_NE(arena.acquire(PageKind::kNormal), nullptr) << "the way is free";
}

TEST(GrowingArena, GrowsForManyThreads) {
  Arena arena;
  ASSERT_TRUE(arena.reserve(size_t{256} << 20));
  std::vector<std::vector<Page*>> taken(4);
  std::vector<std::thread> threads;
  for (auto& mine : taken)
    threads.emplace_back([&] {
      for (int misses = 0; misses < 100;) {
        Page* page = arena.acquire(mine.size() % 2 == 0 ? PageKind::kNormal : PageKind::kHuge);
        if (page == nullptr) {
          ++misses;
          continue;
        }
        *arena.memory_of(*page) = 1;
        mine.push_back(page);
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::set<Page*> all;
  size_t count = 0;
  for (const auto& mine : taken) {
    all.insert(mine.begin(), mine.end());
    count += mine.size();
  }
  EXPECT_EQ(all.size(), count) << "a page was handed out twice";
  // The threads may all have ended for lack of one kind of pages, with some of the other left.
  for (const PageKind kind : {PageKind::kNormal, PageKind::kHuge})
    while (Page* page = arena.acquire(kind)) EXPECT_TRUE(all.insert(page).second);
  EXPECT_EQ(all.size(), (size_t{256} << 20) / kPageSize);
}

// A page that is being purged has no owner.
TEST(SharedArena, NeverPurgesPagesInUse) {
  Arena arena;
  ASSERT_TRUE(arena.reserve(size_t{256} << 20));
  std::atomic<int> damaged{0};
  std::vector<std::thread> threads;
  for (int number = 1; number <= 4; ++number)
    threads.emplace_back([&, number] {
      std::vector<Page*> mine;
      for (int round = 0; round < 300; ++round) {
        const auto kind = number % 2 == 0 ? PageKind::kHuge : PageKind::kNormal;
        while (mine.size() < 40) {
          Page* page = arena.acquire(kind);
          if (page == nullptr) continue;  // another thread is growing the range
          mine.push_back(page);
          std::memset(arena.memory_of(*mine.back()), number, kSystemPage);
          mine.back()->touched = 1;
        }
        for (const Page* page : mine) damaged += *arena.memory_of(*page) != number;
        while (mine.size() > static_cast<size_t>(round % 40)) {
          arena.release(*mine.back());
          mine.pop_back();
        }
      }
      for (Page* page : mine) arena.release(*page);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(damaged, 0);
  EXPECT_EQ(arena.pages_used(), 0u);
}

}  // namespace
}  // namespace halo::runtime
