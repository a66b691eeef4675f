// Runs of units, rings, and the span heap, against obvious versions.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "runtime/extra/spans/reuse_ring.h"
#include "runtime/extra/spans/span_heap.h"
#include "runtime/extra/spans/unit_map.h"

namespace halo::runtime {
namespace {

TEST(UnitMap, FindsTheFirstRunThatFits) {
  constexpr size_t kUnits = 300;
  UnitMap map;
  ASSERT_TRUE(map.reserve(kUnits));
  std::vector<bool> used(kUnits);
  const auto first_fit = [&](size_t count) {
    for (size_t begin = 0; begin + count <= kUnits; ++begin) {
      size_t run = 0;
      while (run < count && !used[begin + run]) ++run;
      if (run == count) return begin;
    }
    return UnitMap::kNowhere;
  };
  std::mt19937 random(1);
  std::vector<std::pair<size_t, size_t>> taken;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 == 0 || taken.empty()) {
      const size_t count = 1 + random() % (random() % 8 == 0 ? 100 : 8);
      const size_t at = map.find(count);
      ASSERT_EQ(at, first_fit(count));
      if (at == UnitMap::kNowhere) continue;
      map.take(at, count);
      std::fill_n(used.begin() + static_cast<long>(at), count, true);
      taken.emplace_back(at, count);
    } else {
      std::swap(taken[random() % taken.size()], taken.back());
      const auto [at, count] = taken.back();
      taken.pop_back();
      map.release(at, count);
      std::fill_n(used.begin() + static_cast<long>(at), count, false);
    }
  }
}

TEST(ReuseRing, TheNewestFreedRunThatFitsIsUsedFirst) {
  ReuseRing ring;
  ring.reset(10);
  EXPECT_EQ(ring.allocate(2), 0u);
  EXPECT_EQ(ring.allocate(3), 2u);
  EXPECT_EQ(ring.allocate(4), 5u);
  EXPECT_EQ(ring.allocate(2), ReuseRing::kNowhere) << "one page is left";
  EXPECT_TRUE(ring.free(5));
  EXPECT_TRUE(ring.free(0));
  EXPECT_EQ(ring.allocate(2), 0u) << "freed after the run at 5";
  EXPECT_EQ(ring.allocate(2), 5u);
  EXPECT_FALSE(ring.free(7)) << "no run starts there";
  EXPECT_FALSE(ring.free(6));
}

TEST(ReuseRing, FreeNeighboursAreJoined) {
  ReuseRing ring;
  ring.reset(8);
  for (size_t at = 0; at < 8; at += 2) ASSERT_EQ(ring.allocate(2), at);
  for (const size_t at : {2u, 6u, 0u, 4u}) EXPECT_TRUE(ring.free(at));
  EXPECT_EQ(ring.allocate(8), 0u);
  EXPECT_EQ(ring.pages_at(0), 8u);
}

TEST(ReuseRing, RunsNeverOverlap) {
  ReuseRing ring;
  ring.reset(64);
  std::map<size_t, size_t> live;
  std::mt19937 random(2);
  for (int step = 0; step < 50000; ++step) {
    if (random() % 2 == 0) {
      const size_t pages = 1 + random() % 9;
      const size_t at = ring.allocate(pages);
      if (at == ReuseRing::kNowhere) continue;
      ASSERT_LE(at + pages, 64u);
      const auto next = live.lower_bound(at);
      ASSERT_TRUE(next == live.end() || next->first >= at + pages);
      ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= at);
      live[at] = pages;
    } else if (!live.empty()) {
      const auto one = std::next(live.begin(), static_cast<long>(random() % live.size()));
      ASSERT_EQ(ring.pages_at(one->first), one->second);
      ASSERT_TRUE(ring.free(one->first));
      live.erase(one);
    }
  }
}

TEST(ReuseRing, EmptyRunsAreFilledFirst) {
  ReuseRing ring;
  ring.reset(10, ReuseRing::Kind::kEmpty);
  EXPECT_EQ(ring.allocate(1), ReuseRing::kNowhere);
  EXPECT_EQ(ring.take_empty(11), ReuseRing::kNowhere);
  EXPECT_EQ(ring.take_empty(4), 0u);
  EXPECT_EQ(ring.allocate(1), ReuseRing::kNowhere) << "it is being filled";
  EXPECT_TRUE(ring.free(0));
  EXPECT_EQ(ring.free_pages(), 4u);
  EXPECT_EQ(ring.allocate(3), 0u);
  EXPECT_EQ(ring.allocate(2), ReuseRing::kNowhere) << "empty neighbours are not joined";
  EXPECT_TRUE(ring.drain(0));
  EXPECT_EQ(ring.free_pages(), 1u);
  EXPECT_EQ(ring.take_empty(3), 0u);
  EXPECT_EQ(ring.take_empty(6), 4u);
  EXPECT_TRUE(ring.drain(4));
  EXPECT_TRUE(ring.drain(0));
  EXPECT_EQ(ring.take_empty(4), 4u) << "page 3 is free";
}

class SpanHeapTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(heap->reserve(size_t{1} << 30)); }
  // The next test's heap may get the same addresses.
  void TearDown() override { munmap(reinterpret_cast<void*>(heap->begin()), heap->mapped()); }
  std::unique_ptr<SpanHeap> heap = std::make_unique<SpanHeap>();
};

TEST_F(SpanHeapTest, SpansKeepTheirContentAndAreZeroIfTheySaySo) {
  struct Live {
    unsigned char* p;
    size_t bytes;
    unsigned char value;
  };
  std::vector<Live> live;
  std::mt19937 random(3);
  size_t zeroes = 0;
  for (int step = 0; step < 600; ++step) {
    if (random() % 3 != 0 || live.empty()) {
      const size_t bytes = kSpanUnit + 1 + random() % (4 * kSpanUnit);
      const Span span = heap->allocate(bytes);
      ASSERT_NE(span.p, nullptr);
      auto* p = static_cast<unsigned char*>(span.p);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u);
      EXPECT_TRUE(heap->contains(p));
      EXPECT_GE(heap->usable_size(p), bytes);
      if (span.is_zero) {
        ++zeroes;
        for (size_t at = 0; at < bytes; ++at) ASSERT_EQ(p[at], 0);
      }
      const auto value = static_cast<unsigned char>(random());
      std::memset(p, value, heap->usable_size(p));
      live.push_back({p, bytes, value});
    } else {
      std::swap(live[random() % live.size()], live.back());
      const Live one = live.back();
      live.pop_back();
      for (size_t at = 0; at < one.bytes; at += 61) ASSERT_EQ(one.p[at], one.value);
      heap->free(one.p);
    }
  }
  EXPECT_GT(zeroes, 0u);
  for (const Live& one : live) heap->free(one.p);
  EXPECT_EQ(heap->counts().live, 0u);
}

TEST_F(SpanHeapTest, LittleFreeMemoryIsKept) {
  const auto resident = [&](const void* p) {
    unsigned char found = 0;
    const auto at = reinterpret_cast<uintptr_t>(p) / 4096 * 4096;
    mincore(reinterpret_cast<void*>(at), 1, &found);
    return found % 2 != 0;
  };
  std::mt19937 random(5);
  std::vector<char*> live;
  for (int step = 0; step < 3000; ++step) {
    if (random() % 2 == 0 && live.size() < 100) {
      const size_t bytes = kSpanUnit + 1 + random() % (16 * kSpanUnit);
      live.push_back(static_cast<char*>(heap->allocate(bytes).p));
      std::memset(live.back(), 1, bytes);
    } else if (!live.empty()) {
      std::swap(live[random() % live.size()], live.back());
      heap->free(live.back());
      live.pop_back();
    }
    ASSERT_LE(heap->kept(), std::max<size_t>(16 << 20, heap->counts().live / 4));
  }
  for (char* p : live) heap->free(p);
  EXPECT_LE(heap->kept(), size_t{16} << 20);
  char* lowest = static_cast<char*>(heap->allocate(2 * kSpanUnit).p);
  size_t pages = 0;
  for (size_t unit = 0; unit < 2000; ++unit) pages += resident(lowest + unit * kSpanUnit);
  EXPECT_LE(pages, (size_t{16} << 20) / kSpanUnit + 3) << "resident units";
}

TEST_F(SpanHeapTest, BytesAreThoseOfSpansInUseAndOfKeptMemory) {
  constexpr size_t kBytes = 4 * kSpanUnit - 4096;
  std::vector<void*> spans;
  for (int at = 0; at < 10; ++at) spans.push_back(std::memset(heap->allocate(kBytes).p, 1, kBytes));
  EXPECT_EQ(heap->bytes().spans, 10u);
  EXPECT_EQ(heap->bytes().live, 40 * kSpanUnit);
  for (int at = 0; at < 6; ++at) heap->free(spans[static_cast<size_t>(at)]);
  const SpanBytes now = heap->bytes();
  EXPECT_EQ(now.spans, 4u);
  EXPECT_EQ(now.live, 16 * kSpanUnit);
  EXPECT_EQ(now.used, 16 * kSpanUnit);
  EXPECT_EQ(now.kept, 24 * kSpanUnit);
  EXPECT_EQ(now.mapped, 40 * kSpanUnit);
  EXPECT_EQ(heap->purge(), 24 * kSpanUnit);
  EXPECT_EQ(heap->bytes().kept, 0u);
  EXPECT_EQ(heap->purge(), 0u);
  EXPECT_EQ(static_cast<char*>(spans[6])[kBytes - 1], 1);
  EXPECT_EQ(*static_cast<char*>(heap->allocate(kBytes).p), 0) << "the memory was returned";
}

TEST_F(SpanHeapTest, LongRunsArePurgedAsAWhole) {
  constexpr size_t kBytes = 100 * kSpanUnit - 4096;
  heap->free(std::memset(heap->allocate(kBytes).p, 1, kBytes));
  void* const between = heap->allocate(kBytes).p;
  heap->free(std::memset(heap->allocate(kBytes).p, 1, kBytes));
  EXPECT_EQ(heap->bytes().kept, 100 * kSpanUnit);
  heap->free(between);
  EXPECT_EQ(heap->purge(), 200 * kSpanUnit);
  EXPECT_EQ(heap->bytes().kept, 0u);
}

TEST_F(SpanHeapTest, MemoryThatTheKernelKeepsIsNotCountedAsPurged) {
  constexpr size_t kBytes = 2 * kSpanUnit - 4096;
  void* const p = std::memset(heap->allocate(kBytes).p, 1, kBytes);
  void* const page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(p) & -kSystemPage);
  // AddressSanitizer makes the C library's functions do nothing.
  ASSERT_EQ(syscall(SYS_mlock, page, kSystemPage), 0);
  heap->free(p);
  EXPECT_EQ(heap->purge(), 0u);
  EXPECT_EQ(heap->bytes().kept, 2 * kSpanUnit);
  ASSERT_EQ(syscall(SYS_munlock, page, kSystemPage), 0);
  EXPECT_EQ(heap->purge(), 2 * kSpanUnit);
}

TEST_F(SpanHeapTest, AnEighthMoreThanIsUsedIsMapped) {
  size_t used = 0;
  while (used < size_t{900} << 20) {
    ASSERT_NE(heap->allocate(20 * kSpanUnit).p, nullptr);
    used = heap->counts().live;
    ASSERT_LE(heap->mapped(), used + std::max(used / 8, size_t{4} << 20));
  }
}

TEST_F(SpanHeapTest, OtherPointersAreNotFreed) {
  auto* p = static_cast<char*>(heap->allocate(3 * kSpanUnit).p);
  for (char* other : {p + 16, p + kSpanUnit, p + 3 * kSpanUnit}) {
    EXPECT_EQ(heap->usable_size(other), 0u);
    heap->free(other);
  }
  EXPECT_GE(heap->usable_size(p), 3 * kSpanUnit);
  heap->free(p);
  heap->free(p);
  EXPECT_EQ(heap->counts().live, 0u);
  int on_the_stack = 0;
  EXPECT_FALSE(heap->contains(&on_the_stack));
}

TEST_F(SpanHeapTest, ConfinedSpansStayInTheirRing) {
  constexpr size_t kRing = 8 * kSpanUnit;
  char* lowest = nullptr;
  char* highest = nullptr;
  for (int step = 0; step < 1000; ++step) {
    auto* p = static_cast<char*>(heap->allocate_confined(3, kRing, 2 * kSpanUnit).p);
    ASSERT_NE(p, nullptr);
    std::memset(p, 1, 2 * kSpanUnit);
    lowest = lowest == nullptr || p < lowest ? p : lowest;
    highest = p > highest ? p : highest;
    EXPECT_EQ(heap->usable_size(p), 2 * kSpanUnit);
    heap->free(p);
  }
  EXPECT_EQ(lowest, highest) << "the run that was freed last is used again";
  std::vector<void*> all;
  while (void* p = heap->allocate_confined(3, kRing, 2 * kSpanUnit).p) all.push_back(p);
  EXPECT_EQ(all.size(), 4u);
  EXPECT_EQ(heap->counts().unfit, 1u);
  for (void* p : all) heap->free(p);
}

// What the watch does for a ring: its memory, or none.
void fill_ring(SpanHeap& heap, uint32_t ring, size_t most = SIZE_MAX) {
  const SpanHeap::Part part = heap.take_empty(ring, size_t{1} << 30);
  if (part.bytes != 0) heap.supply(ring, part.begin, std::min(part.bytes, most));
}

TEST_F(SpanHeapTest, ColouredRingsServeOnlyWhatWasSupplied) {
  constexpr size_t kBytes = 2 * kSpanUnit;
  heap->colour_rings(64 * kSpanUnit, 64 * kSpanUnit);
  EXPECT_EQ(heap->take_empty(3, kBytes).bytes, 0u) << "no allocation needs it";
  EXPECT_EQ(heap->allocate_confined(3, kSpanUnit, kBytes).p, nullptr);
  fill_ring(*heap, 3, 0);
  EXPECT_EQ(heap->allocate_confined(3, kSpanUnit, kBytes).p, nullptr) << "there were no frames";
  fill_ring(*heap, 3);
  auto* p = static_cast<char*>(heap->allocate_confined(3, kSpanUnit, kBytes).p);
  ASSERT_NE(p, nullptr);
  const SpanHeap::Part ring = heap->coloured_ring(3);
  EXPECT_EQ(ring.bytes, 64 * kSpanUnit);
  EXPECT_LT(reinterpret_cast<uintptr_t>(p) - ring.begin, ring.bytes);
  EXPECT_EQ(heap->allocate_confined(3, kSpanUnit, kBytes).p, nullptr);
  heap->free(p);
  EXPECT_EQ(heap->allocate_confined(3, kSpanUnit, kBytes).p, p);
}

TEST_F(SpanHeapTest, APartMayBeSuppliedInPart) {
  constexpr size_t kBytes = 2 * kSpanUnit;
  heap->colour_rings(64 * kSpanUnit, 64 * kSpanUnit);
  for (int count = 0; count < 5; ++count) heap->allocate_confined(0, kSpanUnit, kBytes);
  fill_ring(*heap, 0, 3 * kBytes);
  std::vector<void*> live;
  while (void* p = heap->allocate_confined(0, kSpanUnit, kBytes).p) live.push_back(p);
  EXPECT_EQ(live.size(), 3u);
  fill_ring(*heap, 0);
  EXPECT_NE(heap->allocate_confined(0, kSpanUnit, kBytes).p, nullptr) << "behind those";
}

TEST_F(SpanHeapTest, RingsThatHaveNoRoomAreCounted) {
  heap->colour_rings(size_t{2} << 30, 0);
  EXPECT_EQ(heap->coloured_ring(0).bytes, 0u);
  EXPECT_EQ(heap->allocate_confined(0, kSpanUnit, 2 * kSpanUnit).p, nullptr);
  EXPECT_EQ(heap->counts().unfit, 1u);
  EXPECT_NE(heap->allocate(2 * kSpanUnit).p, nullptr);
}

TEST_F(SpanHeapTest, ColouredRingsKeepABoundedAmountOfFreeMemory) {
  constexpr size_t kBytes = 2 * kSpanUnit;
  heap->colour_rings(64 * kSpanUnit, 3 * kBytes);
  std::vector<char*> live;
  while (live.size() < 8) {
    auto* p = static_cast<char*>(heap->allocate_confined(0, kSpanUnit, kBytes).p);
    if (p == nullptr) {
      fill_ring(*heap, 0);
      continue;
    }
    std::memset(p, 1, kBytes);
    live.push_back(p);
  }
  for (char* p : live) heap->free(p);
  const SpanHeap::Part ring = heap->coloured_ring(0);
  std::vector<unsigned char> present(ring.bytes / 4096);
  mincore(reinterpret_cast<void*>(ring.begin), ring.bytes, present.data());
  size_t resident = 0;
  for (const unsigned char page : present) resident += page % 2;
  EXPECT_EQ(resident, 3 * kBytes / 4096);
  EXPECT_NE(heap->allocate_confined(0, kSpanUnit, kBytes).p, nullptr);
}

TEST_F(SpanHeapTest, HugeSpansAndFullRangesAreRefused) {
  EXPECT_EQ(heap->allocate(kMaxSpan + 1).p, nullptr);
  void* large = heap->allocate(kMaxSpan / 2).p;
  EXPECT_NE(large, nullptr);
  EXPECT_EQ(heap->allocate(kMaxSpan - kSpanUnit).p, nullptr);
  heap->free(large);
  EXPECT_NE(heap->allocate(kMaxSpan - kSpanUnit).p, nullptr);
}

TEST_F(SpanHeapTest, ThreadsShareTheHeap) {
  const auto work = [&](unsigned char value) {
    std::mt19937 random(value);
    for (int step = 0; step < 2000; ++step) {
      const size_t bytes = kSpanUnit + 1 + random() % (2 * kSpanUnit);
      const bool confined = random() % 2 == 0;
      auto* p = static_cast<unsigned char*>(
          confined ? heap->allocate_confined(0, 16 * kSpanUnit, bytes).p : heap->allocate(bytes).p);
      if (p == nullptr) continue;
      p[0] = p[bytes - 1] = value;
      std::this_thread::yield();
      EXPECT_EQ(p[0], value);
      EXPECT_EQ(p[bytes - 1], value);
      heap->free(p);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned char value = 1; value <= 4; ++value) threads.emplace_back(work, value);
  for (std::thread& thread : threads) thread.join();
  heap->free(heap->allocate(2 * kSpanUnit).p);
  EXPECT_EQ(heap->counts().live, 0u);
}

}  // namespace
}  // namespace halo::runtime
