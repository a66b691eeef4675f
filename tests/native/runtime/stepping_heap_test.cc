// The heap that steps to permitted starts: against the paper's figure 3, by many threads, in signal
// handlers and in forked children.
#include "runtime/extra/stepping/stepping_heap.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "runtime/blocks.h"
#include "runtime/figure3.h"

namespace halo::runtime {
namespace {

constexpr uint64_t kAllSlots = UINT64_MAX;
constexpr StartMask kMasks[] = {{0x0000ffffffff0000, 12},
                                {0x5555555555555555, 12},
                                {0x8000000000000001, 15},
                                {uint64_t{1} << 40, 13},
                                {kAllSlots, 12}};
constexpr uint32_t kMaskCount = std::size(kMasks);
constexpr uint32_t kFlags =
    plan::kGroupBySize | plan::kGroupMasked | plan::kGroupStepping | 12 << plan::kGroupWayBit;
constexpr plan::Group kGroups[] = {{kFlags, plan::Reuse::kNewestFirst, 2}, {}};

// A number below `end`.
uint32_t below(uint32_t end, std::mt19937& random) { return static_cast<uint32_t>(random()) % end; }

uint32_t offset_of(const void* p) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(p) % kPageSize);
}

char* make(const StartMask& mask, uint32_t bytes) {
  auto* p = static_cast<char*>(stepping_heap.allocate(mask, bytes));
  if (p == nullptr) return nullptr;
  EXPECT_TRUE(mask.permits(offset_of(p)));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % (bytes % 16 == 0 ? 16 : 8), 0u);
  EXPECT_GE(size_of_block(p), bytes);
  return p;
}

class SteppingHeapTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (arena.bytes() != 0) return;
    ASSERT_TRUE(arena.reserve(size_t{64} << 20));
    configure_heaps(kGroups, plan::kMaxObjectLimit);
  }
};

// First, as the model starts with an empty heap.
TEST_F(SteppingHeapTest, ServesTheBlocksOfThePapersFigure) {
  Figure3 model;
  std::mt19937 random(1);
  std::vector<std::pair<char*, Figure3::Place>> live;
  std::map<size_t, char*> pages;  // by the model's number
  for (int step = 0; step < 60000; ++step) {
    const size_t wanted = step / 2000 % 2 == 0 ? 60 : 8;
    if (live.size() > below(static_cast<uint32_t>(2 * wanted), random)) {
      const uint32_t at = below(static_cast<uint32_t>(live.size()), random);
      model.free(live[at].second);
      stepping_heap.free(live[at].first);
      live[at] = live.back();
      live.pop_back();
      continue;
    }
    const StartMask& mask = kMasks[below(kMaskCount, random)];
    constexpr uint32_t kLimits[] = {8, 24, 512, 4096, 16384};
    const uint32_t bytes = 8 + below(kLimits[below(5, random)], random) / 8 * 8;
    const auto expected = model.allocate(mask, bytes);
    char* p = make(mask, bytes);
    ASSERT_EQ(p != nullptr, expected.has_value());
    if (p == nullptr) continue;
    char* const page = p - offset_of(p);
    ASSERT_EQ(offset_of(p), expected->offset) << "step " << step;
    // A page may be released and opened again, under a new number.
    ASSERT_EQ(pages.try_emplace(expected->page, page).first->second, page) << "step " << step;
    ASSERT_EQ(size_of_block(p), bytes);
    std::memset(p, step, bytes);
    live.emplace_back(p, *expected);
  }
  EXPECT_EQ(stepping_heap.counts().skipped, model.skipped());
  EXPECT_GT(model.skipped(), 0u);
  for (const auto& [p, place] : live) stepping_heap.free(p);
  EXPECT_EQ(stepping_heap.counts().live, 0u);
  EXPECT_LE(stepping_heap.counts().pages, 1u);
}

TEST_F(SteppingHeapTest, ReusesTheBytesThatItSkipped) {
  const StartMask even{0x5555555555555555, 12}, odd{~even.slots, 12};
  std::vector<char*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(make(even, 64));
  const uint64_t pages = stepping_heap.counts().pages;
  const uint64_t skipped = stepping_heap.counts().skipped;
  char* const lowest = *std::min_element(blocks.begin(), blocks.end());
  char* const highest = *std::max_element(blocks.begin(), blocks.end());
  for (int i = 0; i < 50; ++i) {
    char* p = make(odd, 64);
    EXPECT_TRUE(lowest < p && p < highest);
    blocks.push_back(p);
  }
  EXPECT_EQ(stepping_heap.counts().pages, pages);
  EXPECT_EQ(stepping_heap.counts().skipped, skipped);
  for (char* p : blocks) stepping_heap.free(p);
}

TEST_F(SteppingHeapTest, ChecksTheNewestFreeBlocksOnly) {
  constexpr uint32_t kBytes = 2048 + 8;
  const StartMask all{kAllSlots, 12};
  std::vector<char*> blocks;
  for (int i = 0; i < 200; ++i) blocks.push_back(make(all, kBytes));
  // Every other one, and none at the end of a page, so that none absorbs a free block.
  std::vector<char*> freed;
  for (size_t i = 0; i < 160; i += 2)
    if (offset_of(blocks[i]) + 2 * kBytes <= kPageSize) freed.push_back(blocks[i]);
  char* const oldest = freed.front();
  const auto slot = static_cast<int>(offset_of(oldest) / 64 % 64);
  const StartMask only{uint64_t{1} << slot, 12};
  std::erase_if(freed, [&](char* p) { return p != oldest && only.permits(offset_of(p)); });
  ASSERT_GT(freed.size(), 65u);
  const auto free_first = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) stepping_heap.free(freed[i]);
  };
  const auto take_again = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) make(all, kBytes);
  };
  free_first(64);  // the oldest is the 64th
  EXPECT_EQ(make(only, kBytes), oldest);
  take_again(63);
  free_first(65);
  char* const other = make(only, kBytes);
  EXPECT_NE(other, oldest);
  take_again(65);
  stepping_heap.free(other);
  for (char* p : blocks) stepping_heap.free(p);
  EXPECT_EQ(stepping_heap.counts().live, 0u);
}

TEST_F(SteppingHeapTest, RefusesWhatNoPageHasRoomFor) {
  const uint64_t refusals = stepping_heap.counts().refusals;
  EXPECT_EQ(stepping_heap.allocate({uint64_t{1} << 63, 16}, 4096), nullptr);
  EXPECT_EQ(stepping_heap.counts().refusals, refusals + 1);
  char* p = make({uint64_t{1} << 63, 16}, 1024);
  ASSERT_NE(p, nullptr);
  stepping_heap.free(p);
}

TEST_F(SteppingHeapTest, IgnoresWrongFrees) {
  char* p = make(kMasks[0], 200);
  const uint64_t live = stepping_heap.counts().live;
  stepping_heap.free(p + 8);
  stepping_heap.free(p + 4);
  EXPECT_EQ(stepping_heap.counts().live, live);
  stepping_heap.free(p);
  stepping_heap.free(p);
  EXPECT_EQ(stepping_heap.counts().live, live - 200);
  char* q = make(kMasks[0], 200);
  char* r = make(kMasks[0], 200);
  EXPECT_NE(q, r);
  stepping_heap.free(q);
  stepping_heap.free(r);
}

TEST_F(SteppingHeapTest, ServesTheGroupsThatStep) {
  ThreadHeap* heaps = thread_heap();
  const InsideHeap inside(heaps);
  EXPECT_EQ(heaps->heap_for(0, 64), nullptr);
  void* p = heaps->allocate_stepping(0, 64);
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(offset_of(p) / 64 % 64, 1u);
  EXPECT_EQ(arena.page_of(p).thread.load(), kSteppingOwner);
  EXPECT_EQ(heaps->shared_allocations(0), 1u);
  EXPECT_EQ(heaps->allocate_stepping(1, 64), nullptr);
  EXPECT_NE(heaps->heap_for(1, 64), nullptr);
  stepping_heap.free(p);
}

// A live block: its first and last words.
struct Stamped {
  char* p = nullptr;
  uint32_t bytes = 0, mask = 0;

  void stamp() const {
    std::memcpy(p, &bytes, sizeof bytes);
    std::memcpy(p + bytes - 4, &mask, sizeof mask);
  }
  bool intact() const {
    uint32_t first, last;
    std::memcpy(&first, p, sizeof first);
    std::memcpy(&last, p + bytes - 4, sizeof last);
    return first == bytes && last == mask && kMasks[mask].permits(offset_of(p));
  }
};

Stamped take(std::mt19937& random) {
  const uint32_t mask = below(kMaskCount, random);
  const uint32_t bytes = 8 + below(below(8, random) == 0 ? 6000 : 300, random) / 8 * 8;
  // Refused if the holder of the lock does not run for long.
  for (int i = 0; i < 1000; ++i) {
    if (char* p = make(kMasks[mask], bytes)) {
      const Stamped made{p, bytes, mask};
      made.stamp();
      return made;
    }
    std::this_thread::yield();
  }
  return {};
}

// malloc, realloc and free, of blocks of its own and of other threads. Returns damaged blocks.
int use_at_random(unsigned seed, int steps, std::array<std::atomic<Stamped*>, 64>& exchange) {
  std::mt19937 random(seed);
  std::vector<Stamped> own(64);
  int damaged = 0;
  const auto release = [&](Stamped& it) {
    if (it.p == nullptr) return;
    damaged += it.intact() ? 0 : 1;
    stepping_heap.free(it.p);
    it = {};
  };
  for (int step = 0; step < steps; ++step) {
    Stamped& it = own[below(64, random)];
    switch (below(4, random)) {
      case 0: {
        auto* passed = new Stamped(it);
        passed = exchange[below(64, random)].exchange(passed);
        it = passed == nullptr ? Stamped{} : *passed;
        delete passed;
        break;
      }
      case 1: {
        const Stamped moved = take(random);
        release(it);
        it = moved;
        break;
      }
      case 2:
        release(it);
        [[fallthrough]];
      default:
        if (it.p == nullptr) it = take(random);
    }
  }
  for (Stamped& it : own) release(it);
  return damaged;
}

void free_all(std::array<std::atomic<Stamped*>, 64>& exchange) {
  for (auto& slot : exchange) {
    Stamped* left = slot.exchange(nullptr);
    if (left == nullptr) continue;
    if (left->p != nullptr) stepping_heap.free(left->p);
    delete left;
  }
}

TEST_F(SteppingHeapTest, ServesManyThreads) {
  constexpr int kThreads = 4, kSteps = 250'000;
  const uint64_t before = stepping_heap.counts().live;
  std::array<std::atomic<Stamped*>, 64> exchange{};
  std::atomic<int> damaged{0};
  std::vector<std::thread> all;
  for (unsigned i = 0; i < kThreads; ++i)
    all.emplace_back([&, i] { damaged += use_at_random(i, kSteps, exchange); });
  for (std::thread& thread : all) thread.join();
  free_all(exchange);
  EXPECT_EQ(damaged, 0);
  // Collects what is left in the ring.
  for (int i = 0; i < 100; ++i) stepping_heap.free(make(kMasks[0], 64));
  EXPECT_EQ(stepping_heap.counts().live, before);
  EXPECT_LE(stepping_heap.counts().pages, 1u);
}

TEST_F(SteppingHeapTest, ServesForkedChildren) {
  std::atomic<bool> done{false};
  std::array<std::atomic<Stamped*>, 64> exchange{};
  std::thread other([&] {
    for (unsigned seed = 0; !done; ++seed) use_at_random(seed, 1000, exchange);
  });
  char* kept = nullptr;
  while (kept == nullptr)
    kept = make(kMasks[0], 640);  // the other thread may hold the lock for long
  std::memset(kept, 7, 640);
  constexpr int kForwards = 2;
  int served = 0;
  for (int i = 0; i < 30; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(20);
      std::array<char*, 50> blocks{};
      bool good = kept[0] == 7 && kept[639] == 7;
      for (char*& p : blocks) p = static_cast<char*>(stepping_heap.allocate(kMasks[0], 640));
      // The other thread held the lock for too long: the child finds it held.
      if (good && blocks[0] == nullptr) _exit(kForwards);
      for (char* p : blocks) {
        good &= p != nullptr && p != kept && kMasks[0].permits(offset_of(p));
        stepping_heap.free(p);
      }
      _exit(good ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) % kForwards == 0) << status;
    served += status == 0;
  }
  EXPECT_GT(served, 0);
  done = true;
  other.join();
  stepping_heap.free(kept);
  free_all(exchange);
}

std::atomic<int> handled{0};

void allocate_in_handler(int) {
  void* p = stepping_heap.allocate(kMasks[1], 48);
  if (p != nullptr) stepping_heap.free(p);
  ++handled;
}

// The handler interrupts this thread inside the heap again and again, and must not wait for it.
TEST_F(SteppingHeapTest, IsSafeInSignalHandlers) {
  struct sigaction action{}, old;
  action.sa_handler = allocate_in_handler;
  ASSERT_EQ(sigaction(SIGALRM, &action, &old), 0);
  constexpr itimerval kOften{{0, 50}, {0, 50}}, kNever{};
  ASSERT_EQ(setitimer(ITIMER_REAL, &kOften, nullptr), 0);
  std::array<std::atomic<Stamped*>, 64> exchange{};
  int damaged = 0;
  for (unsigned seed = 0; handled < 300; ++seed) damaged += use_at_random(seed, 500, exchange);
  ASSERT_EQ(setitimer(ITIMER_REAL, &kNever, nullptr), 0);
  sigaction(SIGALRM, &old, nullptr);
  EXPECT_EQ(damaged, 0);
  free_all(exchange);
}

// Last, as the arena stays large.
TEST_F(SteppingHeapTest, RefusesIfMemoryIsUsedUp) {
  std::vector<char*> blocks;
  while (char* p = make(kMasks[4], 32768)) blocks.push_back(p);
  EXPECT_GT(blocks.size(), 1000u);
  const uint64_t refusals = stepping_heap.counts().refusals;
  EXPECT_EQ(make(kMasks[4], 32768), nullptr);
  EXPECT_EQ(stepping_heap.counts().refusals, refusals + 1);
  for (char* p : blocks) stepping_heap.free(p);
  char* p = make(kMasks[4], 32768);
  EXPECT_NE(p, nullptr);
  stepping_heap.free(p);
}

TEST(BoundedLock, IsNotWaitedForWithoutABound) {
  BoundedLock lock;
  EXPECT_TRUE(lock.try_acquire());
  EXPECT_FALSE(lock.try_acquire());
  EXPECT_FALSE(lock.acquire());
  lock.release();
  EXPECT_TRUE(lock.acquire());
}

}  // namespace
}  // namespace halo::runtime
