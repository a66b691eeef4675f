// Group heaps against a shadow model: blocks never overlap, keep their contents, size and
// alignment, and are used again.
#include "runtime/group_heap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <thread>

#include "runtime/thread_heap.h"

namespace halo::runtime {
namespace {

constexpr std::uint32_t max_size = 4096;

// One arena serves all tests of the process.
void open_arena() {
  static const plan::Group groups[6] = {{0, plan::Reuse::newest_first, 0},
                                        {0, plan::Reuse::whole_chunks, 0},
                                        {plan::group_by_size, plan::Reuse::newest_first, 0},
                                        {0, plan::Reuse::newest_first, 0},
                                        {0, plan::Reuse::newest_first, 0},
                                        {0, plan::Reuse::newest_first, 0}};
  if (arena.bytes() != 0) return;
  ASSERT_TRUE(arena.reserve(std::size_t{8} << 30));
  configure_heaps(groups, max_size);
}

class GroupHeapTest : public ::testing::TestWithParam<plan::Reuse> {
 protected:
  static void SetUpTestSuite() { open_arena(); }
  GroupHeap& heap() { return heap_of(static_cast<std::uint32_t>(GetParam())); }
  static GroupHeap& heap_of(std::uint32_t group) {
    std::uint32_t bytes = 8;
    return *thread_heap()->heap(group, bytes);
  }

  static void free_block(void* p) {
    Chunk& chunk = arena.chunk_of(p);
    GroupHeap* owner = chunk.owner.load();
    if (owner->thread() == current_heap)
      owner->deallocate(chunk, p);
    else
      owner->deallocate_remote(chunk, p);
  }
};

INSTANTIATE_TEST_SUITE_P(Reuse, GroupHeapTest,
                         ::testing::Values(plan::Reuse::newest_first, plan::Reuse::whole_chunks));

TEST(BlockBytes, FollowTheSize) {
  EXPECT_EQ(block_bytes(0, false), 8u);
  EXPECT_EQ(block_bytes(1, false), 8u);
  EXPECT_EQ(block_bytes(24, false), 24u);
  EXPECT_EQ(block_bytes(24, true), 32u);
  EXPECT_EQ(block_bytes(0, true), 16u);
  EXPECT_EQ(block_bytes(4096, false), 4096u);
}

TEST_P(GroupHeapTest, EqualBlocksLieSideBySide) {
  auto* before = static_cast<char*>(heap().allocate(40));
  for (int i = 0; i < 100; ++i) {
    auto* after = static_cast<char*>(heap().allocate(40));
    EXPECT_EQ(after, before + 40);
    before = after;
  }
}

TEST(GroupsBySize, KeepSizesApart) {
  open_arena();
  std::uint32_t small = 24, large = 300;
  GroupHeap* of_small = thread_heap()->heap(2, small);
  GroupHeap* of_large = thread_heap()->heap(2, large);
  EXPECT_NE(of_small, of_large);
  EXPECT_EQ(small, 24u);
  EXPECT_EQ(large, 304u);
  void* p = of_large->allocate(large);
  EXPECT_EQ(GroupHeap::size_of(arena.chunk_of(p), p), large);
}

TEST(SizeClasses, WasteAtMostASixteenth) {
  for (std::uint32_t bytes = 8; bytes <= 65536; bytes += 8) {
    const std::uint32_t rounded = size_class(bytes);
    ASSERT_GE(rounded, bytes);
    ASSERT_LE((rounded - bytes) * 16, bytes);
    ASSERT_EQ(size_class(rounded), rounded);
    ASSERT_EQ(rounded % 8, 0u);
  }
}

struct Live {
  std::uint32_t bytes;
  unsigned char fill;
};

// Random sizes and lifetimes; every block carries its own pattern.
TEST_P(GroupHeapTest, KeepsTheShadowModelsInvariants) {
  std::mt19937 random(11);
  std::map<char*, Live> live;
  for (int step = 0; step < 400000; ++step) {
    if (random() % 20000 == 0) heap().tidy(random() % 2 == 0);
    const bool grow = live.size() < 3000 || random() % 2 == 0;
    if (grow && live.size() < 20000) {
      const std::uint32_t bytes =
          block_bytes(random() % 8 == 0 ? random() % max_size : random() % 100, random() % 4 == 0);
      auto* p = static_cast<char*>(random() % 3 == 0 ? heap().allocate_zeroed(bytes)
                                                     : heap().allocate(bytes));
      if (p == nullptr) {  // only where too much is free for the group to grow
        ASSERT_GT(heap().resident_bytes(), heap().live_bytes() + chunk_size);
        continue;
      }
      ASSERT_TRUE(arena.contains(p));
      const std::uint32_t alignment = std::min(16u, bytes & (~bytes + 1));
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(p) % alignment, 0u);
      ASSERT_EQ(GroupHeap::size_of(arena.chunk_of(p), p), bytes);
      const auto above = live.lower_bound(p);
      if (above != live.end()) {
        ASSERT_LE(p + bytes, above->first);
      }
      if (above != live.begin()) {
        ASSERT_LE(std::prev(above)->first + std::prev(above)->second.bytes, p);
      }
      const auto fill = static_cast<unsigned char>(random());
      std::memset(p, fill, bytes);
      live[p] = {bytes, fill};
    } else {
      auto victim = live.lower_bound(std::next(live.begin(), random() % 50)->first);
      const auto [p, what] = *victim;
      for (std::uint32_t i = 0; i < what.bytes; ++i)
        ASSERT_EQ(static_cast<unsigned char>(p[i]), what.fill);
      free_block(p);
      live.erase(victim);
    }
  }
  for (const auto& [p, what] : live) free_block(p);
}

TEST_P(GroupHeapTest, ZeroedMeansZeroed) {
  std::vector<void*> blocks;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 60000; ++i) {
      auto* p = static_cast<unsigned char*>(heap().allocate_zeroed(48));
      ASSERT_EQ(std::count(p, p + 48, 0), 48);
      std::memset(p, 0xFF, 48);
      blocks.push_back(p);
    }
    for (void* p : blocks) free_block(p);
    blocks.clear();
  }
}

TEST_P(GroupHeapTest, UsesFreedMemoryAgain) {
  const std::uint32_t before = arena.chunks_used();
  for (int round = 0; round < 50; ++round) {
    std::vector<void*> blocks;
    for (int i = 0; i < 100000; ++i) blocks.push_back(heap().allocate(56));
    for (void* p : blocks) free_block(p);
  }
  // One round takes under 6 MiB; fifty without reuse would take 270.
  EXPECT_LE(arena.chunks_used() - before, 12u);
}

// Of blocks of `bytes`, every one that `keep` does not want is freed.
template <typename Keep>
std::vector<char*> thin_out(GroupHeap& heap, std::uint32_t bytes, int count, Keep keep) {
  std::vector<char*> all, kept;
  for (int i = 0; i < count; ++i) all.push_back(static_cast<char*>(heap.allocate(bytes)));
  for (int i = 0; i < count; ++i) {
    if (keep(i))
      kept.push_back(all[static_cast<std::size_t>(i)]);
    else
      heap.deallocate(arena.chunk_of(all[static_cast<std::size_t>(i)]),
                      all[static_cast<std::size_t>(i)]);
  }
  return kept;
}

class TidyTest : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  static void SetUpTestSuite() { open_arena(); }
  TidyTest() {
    std::uint32_t bytes = 8;
    heap_ = thread_heap()->heap(3, bytes);
  }
  void free_all(const std::vector<char*>& blocks) {
    for (char* p : blocks) heap_->deallocate(arena.chunk_of(p), p);
    heap_->tidy(true);
  }
  GroupHeap* heap_;
};

INSTANTIATE_TEST_SUITE_P(BlockBytes, TidyTest, ::testing::Values(24u, 72u, 1000u));

TEST_P(TidyTest, EmptyChunksLeaveTheHeap) {
  const std::uint64_t before = heap_->chunks(), resident = heap_->resident_bytes();
  const int count = 16 * static_cast<int>(chunk_size / GetParam());
  free_all(thin_out(*heap_, GetParam(), count, [](int) { return true; }));
  EXPECT_LE(heap_->chunks(), before + 1);
  EXPECT_LE(heap_->resident_bytes(), resident + chunk_size);
}

TEST_P(TidyTest, WideGapsAreFilledInOrderAgain) {
  const int count = 4 * static_cast<int>(chunk_size / GetParam());
  const auto kept = thin_out(*heap_, GetParam(), count,
                             [count](int i) { return i < count / 8 || i > count / 4; });
  heap_->tidy(false);
  const std::uint64_t chunks = heap_->chunks();
  std::vector<char*> again;
  int side_by_side = 0;
  for (int i = 0; i < count / 10; ++i) {
    again.push_back(static_cast<char*>(heap_->allocate(GetParam())));
    if (i > 0 && again.back() == again[again.size() - 2] + GetParam()) ++side_by_side;
  }
  EXPECT_EQ(heap_->chunks(), chunks);
  EXPECT_GE(side_by_side, count / 10 - 8);
  free_all(kept);
  free_all(again);
}

TEST_P(TidyTest, WideGapsServeOtherSizes) {
  const int count = 4 * static_cast<int>(chunk_size / GetParam());
  const auto kept = thin_out(*heap_, GetParam(), count, [](int i) { return i % 512 == 0; });
  for (char* p : kept) std::memset(p, 0x5A, GetParam());
  heap_->tidy(false);
  const std::uint64_t chunks = heap_->chunks();
  std::vector<char*> other;
  for (int i = 0; i < count / 4; ++i) {
    other.push_back(static_cast<char*>(heap_->allocate(GetParam() + 16)));
    std::memset(other.back(), 0xA5, GetParam() + 16);
    ASSERT_EQ(GroupHeap::size_of(arena.chunk_of(other.back()), other.back()), GetParam() + 16);
  }
  EXPECT_LE(heap_->chunks(), chunks + 1);
  for (char* p : kept) {
    ASSERT_EQ(GroupHeap::size_of(arena.chunk_of(p), p), GetParam());
    ASSERT_EQ(std::count(p, p + GetParam(), 0x5A), static_cast<std::ptrdiff_t>(GetParam()));
  }
  free_all(kept);
  free_all(other);
}

TEST_P(TidyTest, PagesInsideWideGapsAreGivenBack) {
  const int count = 8 * static_cast<int>(chunk_size / GetParam());
  const int far = static_cast<int>(chunk_size / GetParam() / 2);
  const auto kept = thin_out(*heap_, GetParam(), count, [far](int i) { return i % far == 0; });
  heap_->tidy(true);
  EXPECT_GE(heap_->chunks(), 8u);
  EXPECT_LT(heap_->resident_bytes(), chunk_size);
  free_all(kept);
}

TEST(SmallGroup, StaysSmallWhateverTheSizes) {
  open_arena();
  std::uint32_t bytes = 8;
  GroupHeap& heap = *thread_heap()->heap(4, bytes);
  std::mt19937 random(1);
  std::vector<void*> live(16);
  for (int i = 0; i < 100000; ++i) {
    void*& block = live[random() % live.size()];
    if (block != nullptr) heap.deallocate(arena.chunk_of(block), block);
    block = heap.allocate(static_cast<std::uint32_t>(8 * (1 + i / 100 % 200)));
  }
  EXPECT_LE(heap.resident_bytes(), 256u * 1024);
  for (void* block : live) heap.deallocate(arena.chunk_of(block), block);
}

// What is free in pieces of 48 bytes serves no larger block, and every new page is in vain.
TEST(SplinteredHeap, RefusesToGrowBeyondATenth) {
  open_arena();
  std::uint32_t bytes = 48;
  GroupHeap& heap = *thread_heap()->heap(5, bytes);
  std::vector<void*> blocks(40 * chunk_size / bytes), kept;
  for (void*& block : blocks) block = heap.allocate(bytes);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i % 4 != 0)
      kept.push_back(blocks[i]);
    else
      heap.deallocate(arena.chunk_of(blocks[i]), blocks[i]);
  }
  const std::uint64_t resident = heap.resident_bytes(), step = 64 * 1024;
  for (std::uint64_t i = 0; i <= step / 400; ++i)  // what is left of the step already begun
    if (void* larger = heap.allocate(400)) kept.push_back(larger);
  const std::uint64_t refusals = heap.refusals();
  bool refused = true;
  for (int i = 0; i < 1000; ++i) refused = refused && heap.allocate(400) == nullptr;
  EXPECT_TRUE(refused);
  EXPECT_EQ(heap.refusals(), refusals + 1000);
  EXPECT_LE(heap.resident_bytes(), resident + step);
  void* same = heap.allocate(bytes);  // there is room for these
  ASSERT_NE(same, nullptr);
  heap.deallocate(arena.chunk_of(same), same);
  // Once little is free, the heap grows again.
  for (void* block : kept) heap.deallocate(arena.chunk_of(block), block);
  void* larger = heap.allocate(400);
  EXPECT_NE(larger, nullptr);
  if (larger != nullptr) heap.deallocate(arena.chunk_of(larger), larger);
}

// 20 chunks of blocks, in an order that leaves a block in nearly every chunk until the end.
class DesertedHeap : public ::testing::Test {
 protected:
  DesertedHeap() {
    for (void*& block : blocks_) block = heap_.allocate(bytes_);
    std::shuffle(blocks_.begin(), blocks_.end(), std::mt19937(2));
  }
  static GroupHeap& open_heap(std::uint32_t bytes) {
    open_arena();
    return *thread_heap()->heap(5, bytes);
  }
  void free_from_to(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
      heap_.deallocate(arena.chunk_of(blocks_[i]), blocks_[i]);
  }

  const std::uint32_t bytes_ = 48;
  GroupHeap& heap_ = open_heap(bytes_);
  std::vector<void*> blocks_ = std::vector<void*>(20 * chunk_size / bytes_);
};

TEST_F(DesertedHeap, LeavesItsMemoryToOthers) {
  free_from_to(0, blocks_.size());
  thread_heap()->tidy_others(nullptr);
  EXPECT_LE(heap_.resident_bytes(), chunk_size);
}

// Sorted in vain when most of it was free already, it cannot come to have twice as much free.
TEST_F(DesertedHeap, ReturnsItsMemoryThoughMostOfItWasFree) {
  const std::size_t most = blocks_.size() / 10 * 8;
  free_from_to(0, most);
  heap_.tidy(true);
  EXPECT_GT(heap_.resident_bytes(), 19 * chunk_size) << "a block is left in nearly every page";
  std::sort(blocks_.begin() + std::ptrdiff_t(most), blocks_.end());
  free_from_to(most, blocks_.size());
  EXPECT_LE(heap_.resident_bytes(), 2 * chunk_size);
}

TEST_P(GroupHeapTest, OtherThreadsMayFree) {
  const std::uint32_t group = static_cast<std::uint32_t>(GetParam());
  constexpr int rounds = 30, count = 20000;
  const std::uint32_t before = arena.chunks_used();
  std::atomic<std::uint64_t*> mailbox{nullptr};
  std::atomic<bool> corrupt{false};
  std::thread consumer([&] {
    for (int i = 0; i < rounds * count; ++i) {
      std::uint64_t* p;
      while ((p = mailbox.exchange(nullptr)) == nullptr) std::this_thread::yield();
      for (int word = 0; word < 4; ++word)
        if (p[word] != reinterpret_cast<std::uintptr_t>(p) + static_cast<std::uintptr_t>(word))
          corrupt = true;
      free_block(p);
    }
  });
  std::thread producer([&] {
    for (int i = 0; i < rounds * count; ++i) {
      auto* p = static_cast<std::uint64_t*>(heap_of(group).allocate(32));
      for (int word = 0; word < 4; ++word)
        p[word] = reinterpret_cast<std::uintptr_t>(p) + static_cast<std::uintptr_t>(word);
      while (mailbox.load() != nullptr) std::this_thread::yield();
      mailbox = p;
    }
  });
  producer.join();
  consumer.join();
  EXPECT_FALSE(corrupt);
  EXPECT_LE(arena.chunks_used() - before, 12u);
}

TEST_P(GroupHeapTest, EndedThreadsHandTheirHeapsOn) {
  const std::uint32_t group = static_cast<std::uint32_t>(GetParam());
  const std::uint32_t before = arena.chunks_used();
  for (int i = 0; i < 100; ++i)
    std::thread([&] { free_block(heap_of(group).allocate(64)); }).join();
  EXPECT_LE(arena.chunks_used() - before, 2u);
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
