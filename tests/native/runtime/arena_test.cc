// What an arena keeps of chunks that nobody has, and which it hands out first.
#include "runtime/arena.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace halo::runtime {
namespace {

constexpr std::size_t pages_of_chunk = chunk_size / page;

class ArenaTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(arena_.reserve(std::size_t{1} << 30)); }

  // A chunk of which so many pages are used, from the first on or, where these are all, from the
  // chunk's start.
  Chunk* take(std::size_t pages, Pages kind = Pages::normal) {
    Chunk* chunk = arena_.acquire(owner(), nullptr, kind);
    char* from = pages == pages_of_chunk ? arena_.memory_of(*chunk) : arena_.first_page_of(*chunk);
    std::memset(from, 1, pages * page);
    arena_.account(*chunk, pages);
    return chunk;
  }
  std::size_t resident_pages(const Chunk& chunk) const {
    std::array<unsigned char, pages_of_chunk> pages{};
    EXPECT_EQ(mincore(arena_.memory_of(chunk), chunk_size, pages.data()), 0);
    std::size_t count = 0;
    for (const unsigned char is_resident : pages) count += is_resident & 1;
    return count;
  }
  // Only compared.
  static GroupHeap* owner() { return reinterpret_cast<GroupHeap*>(8); }

  Arena arena_;
};

TEST_F(ArenaTest, KeepsThirtyTwoPagesAndASixtyFourthOfWhatIsOwned) {
  constexpr std::size_t most = pages_of_chunk - 8;  // the first may lie eight pages in
  std::vector<Chunk*> chunks;
  for (int i = 0; i < 8; ++i) chunks.push_back(take(most));
  for (Chunk* chunk : chunks) arena_.release(chunk);
  std::size_t kept = 0;
  for (const Chunk* chunk : chunks) kept += resident_pages(*chunk);
  EXPECT_EQ(kept, 32 + 7 * most / 64) << "of the first; then there was no room for more";
}

TEST_F(ArenaTest, HandsOutWhatIsInMemoryFirstAndSaysWhatIsNot) {
  Chunk* warm = take(10);
  Chunk* cold = take(100);
  arena_.release(warm);
  arena_.release(cold);
  EXPECT_EQ(resident_pages(*warm) + resident_pages(*cold), 32u);
  std::vector<Chunk*> taken{take(0), take(0), take(0)};
  EXPECT_EQ(arena_.chunks_used(), 3u);
  EXPECT_EQ(taken[0], cold) << "the newest of those with pages";
  EXPECT_EQ(taken[0]->warm_pages, 22);
  EXPECT_EQ(taken[1]->warm_pages, 10);
  EXPECT_EQ(taken[2]->warm_pages, 0);
  EXPECT_TRUE(taken[0]->used_before && taken[1]->used_before && !taken[2]->used_before);
}

TEST_F(ArenaTest, GivesBackBothHalvesOfTheLastHugePage) {
  Chunk* chunk = take(pages_of_chunk, Pages::huge);
  EXPECT_EQ(arena_.half_page_of(owner()), chunk_size);
  arena_.release(chunk);
  EXPECT_EQ(arena_.half_page_of(owner()), 0u);
  EXPECT_EQ(arena_.chunks_used(), 2u);
  EXPECT_EQ(resident_pages(*chunk), 0u);
  EXPECT_EQ(take(0, Pages::huge), chunk);
  Chunk* other = take(0, Pages::huge);
  EXPECT_EQ(arena_.number_of(*other), arena_.number_of(*chunk) + 1);
  EXPECT_EQ(resident_pages(*other), 0u);
}

TEST_F(ArenaTest, GivesAnOwnerItsOtherHalfBeforeAnyOther) {
  std::array<Chunk*, 3> chunks{};
  for (Chunk*& chunk : chunks) chunk = take(pages_of_chunk, Pages::huge);
  arena_.release(chunks[0]);
  EXPECT_EQ(arena_.number_of(*take(0, Pages::huge)), arena_.number_of(*chunks[2]) + 1);
  EXPECT_EQ(take(0, Pages::huge), chunks[0]);
}

// The other half is for somebody else only when its pages are given back already.
TEST_F(ArenaTest, LeavesAnotherThreadsHalfAlone) {
  int damaged = 0;
  for (int round = 0; round < 500; ++round) {
    Arena arena;
    ASSERT_TRUE(arena.reserve(std::size_t{64} << 20));
    Chunk* first = arena.acquire(owner(), nullptr, Pages::huge);
    std::memset(arena.memory_of(*first), 1, chunk_size);
    arena.account(*first, pages_of_chunk);
    std::atomic<int> ready{0};
    const auto start_together = [&] {
      for (++ready; ready < 2;) {
      }
    };
    std::thread other([&] {
      start_together();
      for (volatile int wait = round % 200 * 10; wait > 0;) wait = wait - 1;
      const Chunk* chunk = arena.acquire(nullptr, nullptr, Pages::huge);
      *arena.memory_of(*chunk) = 1;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      damaged += *arena.memory_of(*chunk) != 1;
    });
    start_together();
    arena.release(first);
    other.join();
  }
  EXPECT_EQ(damaged, 0);
}

TEST(GrowingArena, TakesFewAddressesAndMoreAsChunksAreTaken) {
  Arena arena;
  ASSERT_TRUE(arena.reserve(std::size_t{1} << 30));
  EXPECT_LE(arena.bytes(), std::size_t{2} << 20);
  std::size_t taken = 0;
  while (Chunk* chunk =
             arena.acquire(nullptr, nullptr, taken % 3 == 0 ? Pages::huge : Pages::normal)) {
    char* memory = arena.memory_of(*chunk);
    ASSERT_TRUE(arena.contains(memory) && arena.contains(memory + chunk_size - 1));
    ASSERT_EQ(arena.has_huge_pages(*chunk), taken % 3 == 0);
    *memory = 1;
    arena.starts_of(*chunk)->store(1);
    ++taken;
    ASSERT_LE(arena.bytes(), (taken + 1) * chunk_size * 9 / 8 + (std::size_t{4} << 20));
  }
  EXPECT_EQ(taken, 1024u);
  EXPECT_EQ(arena.bytes(), std::size_t{1} << 30);
  EXPECT_EQ(arena.chunks_used(), 1024u);
}

TEST(GrowingArena, LeavesAloneWhatLiesInItsWay) {
  Arena arena;
  ASSERT_TRUE(arena.reserve(std::size_t{1} << 30));
  auto* there = reinterpret_cast<char*>(arena.base()) + (std::size_t{16} << 20);
  void* other = mmap(there, page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(other, there);
  *there = 77;
  std::size_t taken = 0;
  while (arena.acquire(nullptr, nullptr, Pages::normal) != nullptr) ++taken;
  EXPECT_EQ(taken, 16u);
  EXPECT_FALSE(arena.contains(there));
  EXPECT_EQ(*there, 77);
  munmap(there, page);
  EXPECT_NE(arena.acquire(nullptr, nullptr, Pages::normal), nullptr) << "the way is free";
}

TEST(GrowingArena, GrowsForManyThreadsAtOnce) {
  Arena arena;
  ASSERT_TRUE(arena.reserve(std::size_t{256} << 20));
  std::vector<std::vector<Chunk*>> taken(4);
  std::vector<std::thread> threads;
  for (auto& mine : taken)
    threads.emplace_back([&] {
      for (int misses = 0; misses < 100;) {
        Chunk* chunk =
            arena.acquire(nullptr, nullptr, mine.size() % 2 == 0 ? Pages::normal : Pages::huge);
        if (chunk == nullptr) {
          ++misses;
          continue;
        }
        *arena.memory_of(*chunk) = 1;
        mine.push_back(chunk);
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::set<Chunk*> all;
  for (const auto& mine : taken) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), taken[0].size() + taken[1].size() + taken[2].size() + taken[3].size());
  // The threads may all have ended in want of one kind of pages, with chunks of the other left.
  for (const Pages pages : {Pages::normal, Pages::huge})
    while (Chunk* chunk = arena.acquire(nullptr, nullptr, pages))
      EXPECT_TRUE(all.insert(chunk).second);
  EXPECT_EQ(all.size(), 256u);
}

}  // namespace
}  // namespace halo::runtime
