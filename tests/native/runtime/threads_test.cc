// Heaps of many threads: remote frees, threads that end, and threads that adopt their heaps.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "runtime/blocks.h"

// Small enough for ThreadSanitizer, which must observe every hand-over (docs/testing.md).
namespace halo::runtime {
namespace {

constexpr uint32_t kMaxSize = 1024;
constexpr plan::Group kGroups[3] = {{0, plan::Reuse::kNewestFirst, 0},
                                    {0, plan::Reuse::kWholeChunks, 0},
                                    {plan::kGroupBySize, plan::Reuse::kNewestFirst, 0}};
constexpr uint32_t kGroupCount = 3;

using Word = uint64_t;

// The contents of word `at` of a live block.
Word stamp(const Word* block, size_t at) { return reinterpret_cast<uintptr_t>(block) * 31 + at; }

size_t words_of(const Word* block) { return size_of_block(block) / sizeof(Word); }

// A number below `end`.
uint32_t below(uint32_t end, std::mt19937& random) { return static_cast<uint32_t>(random()) % end; }

Word* take(uint32_t group, uint32_t size) {
  // Refused, and forwarded, while another thread takes long to grow the arena.
  char* made = make_block(group, block_bytes(size, false));
  for (int i = 0; i < 1000 && made == nullptr; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    made = make_block(group, block_bytes(size, false));
  }
  auto* block = reinterpret_cast<Word*>(made);
  for (size_t i = 0; i < words_of(block); ++i) block[i] = stamp(block, i);
  return block;
}

// False if another thread has written to the live block.
bool intact(const Word* block) {
  for (size_t i = 0; i < words_of(block); ++i)
    if (block[i] != stamp(block, i)) return false;
  return true;
}

struct Totals {
  uint64_t thread_heaps = 0, allocations = 0;
};

// The sum over all heaps; no thread may use them.
Totals totals() {
  Totals sum;
  for (const ThreadHeap* t = first_thread_heap(); t != nullptr; t = t->next()) {
    ++sum.thread_heaps;
    for (uint32_t group = 0; group < kGroupCount; ++group)
      if (const GroupHeap* heap = t->existing_heap(group)) sum.allocations += heap->allocations();
  }
  return sum;
}

// Blocks on their way from one thread to another.
class Exchange {
 public:
  // Stores a block and returns the previous one, or nullptr.
  Word* swap(size_t slot, Word* block) { return slots_[slot % slots_.size()].exchange(block); }
  void empty() {
    for (auto& slot : slots_)
      if (Word* block = slot.exchange(nullptr)) free_block(block);
  }

 private:
  std::array<std::atomic<Word*>, 64> slots_{};
};

class Threads : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(arena.reserve(size_t{8} << 30));
    configure_heaps(kGroups, kMaxSize);
  }
};

template <typename Work>
void in_threads(int count, Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Threads, FreeBlocksOfEachOther) {
  constexpr int kThreads = 8, kSteps = 4000;
  const Totals before = totals();
  Exchange exchange;
  std::atomic<int> damaged{0};
  in_threads(kThreads, [&](int number) {
    std::mt19937 random(static_cast<unsigned>(number));
    for (int step = 0; step < kSteps; ++step) {
      Word* block = take(below(kGroupCount, random), 1 + below(kMaxSize, random));
      block = exchange.swap(random(), block);
      if (block == nullptr) continue;
      if (!intact(block)) ++damaged;
      free_block(block);
    }
  });
  exchange.empty();
  EXPECT_EQ(damaged, 0);
  EXPECT_EQ(totals().allocations - before.allocations, uint64_t{kThreads} * kSteps);
}

// Each thread ends while others still free its blocks, and leaves some behind.
TEST_F(Threads, TakeOverTheHeapsOfThoseThatEnd) {
  constexpr size_t kAtOnce = 4, kGenerations = 60;
  const Totals before = totals();
  Exchange exchange;
  std::atomic<int> damaged{0};
  std::array<std::thread, kAtOnce> threads;
  for (size_t generation = 0; generation < kGenerations; ++generation) {
    std::thread& place = threads[generation % kAtOnce];
    if (place.joinable()) place.join();
    place = std::thread([&, generation] {
      std::mt19937 random(static_cast<unsigned>(generation));
      for (int step = 0; step < 200; ++step) {
        Word* block = take(below(kGroupCount, random), 1 + below(200, random));
        if (step % 2 == 0) block = exchange.swap(random(), block);
        if (block == nullptr) continue;
        if (!intact(block)) ++damaged;
        free_block(block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  exchange.empty();
  EXPECT_EQ(damaged, 0);
  EXPECT_EQ(totals().allocations - before.allocations, kGenerations * 200);
  EXPECT_LE(totals().thread_heaps - before.thread_heaps, 2 * kAtOnce);
}

// Large enough that pages change owners while others free blocks in them.
TEST_F(Threads, GrowAndShrinkWhileOthersFree) {
  constexpr int kThreads = 4, kRounds = 12, kBlocks = 6000;
  constexpr uint32_t kSizes[] = {24, 200, 1000};
  using Batch = std::vector<Word*>;
  std::atomic<Batch*> slot{nullptr};
  std::atomic<int> damaged{0};
  const auto free_all = [&](Batch* batch) {
    if (batch == nullptr) return;
    for (Word* block : *batch) {
      if (!intact(block)) ++damaged;
      free_block(block);
    }
    delete batch;
  };
  const uint64_t before = arena.pages_used();
  in_threads(kThreads, [&](int number) {
    std::mt19937 random(static_cast<unsigned>(number));
    Batch* kept = new Batch;
    for (int round = 0; round < kRounds; ++round) {
      auto* batch = new Batch;
      for (int i = 0; i < kBlocks; ++i) {
        // Kept blocks are not in groups of whole pages: each one there would keep its page.
        const bool keep = i % 50 == 0;
        const uint32_t group = keep ? 2 * below(2, random) : below(kGroupCount, random);
        (keep ? kept : batch)->push_back(take(group, kSizes[below(3, random)]));
      }
      free_all(slot.exchange(batch));
    }
    free_all(kept);
  });
  free_all(slot.exchange(nullptr));
  EXPECT_EQ(damaged, 0);
  // A batch takes 2.4 MB, nine of them live at a time; kept blocks take as much in the end. Without
  // reuse it would be 115 MB.
  EXPECT_LE(arena.pages_used() * kPageSize, before * kPageSize + (size_t{45} << 20));
}

// One thread allocates, all others free: their frees go to one list, and the blocks are reused.
TEST_F(Threads, ManyFreeWhatOneAllocates) {
  constexpr int kConsumers = 4, kBlocks = 60000;
  constexpr uint32_t kSize = 128;
  const uint64_t before = arena.pages_used();
  Exchange exchange;
  std::atomic<bool> done{false};
  std::atomic<int> damaged{0};
  std::thread producer([&] {
    for (size_t i = 0; i < kBlocks; ++i) {
      Word* block = take(0, kSize);
      // Waits for its consumer, so that only a few blocks live at a time.
      while ((block = exchange.swap(i, block)) != nullptr) std::this_thread::yield();
    }
    done = true;
  });
  in_threads(kConsumers, [&](int number) {
    for (size_t slot = static_cast<size_t>(number); !done; slot += kConsumers) {
      Word* block = exchange.swap(slot, nullptr);
      if (block == nullptr) {
        std::this_thread::yield();
        continue;
      }
      if (!intact(block)) ++damaged;
      free_block(block);
    }
  });
  producer.join();
  exchange.empty();
  EXPECT_EQ(damaged, 0);
  // Without reuse it would be eight.
  EXPECT_LE(arena.pages_used() * kPageSize, before * kPageSize + (size_t{3} << 20));
}

}  // namespace
}  // namespace halo::runtime
