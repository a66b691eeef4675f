// Huge pages are no longer requested once they are slow.
#include "runtime/pages/huge_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "runtime/pages/arena.h"

namespace halo::runtime {
namespace {

// The period of a clock that ticks every 4 ms.
constexpr uint64_t kTick = 4'000'000;

void record_touch(HugePages& pages, int count, uint64_t nanoseconds) {
  for (int i = 0; i < count; ++i) pages.record_touch(nanoseconds);
}

TEST(HugePages, AreWantedWhileTheyComeCheap) {
  HugePages pages;
  // 0.1 ms each.
  for (int i = 0; i < 25; ++i) {
    record_touch(pages, 1, kTick);
    record_touch(pages, 39, 0);
    EXPECT_TRUE(pages.wanted());
  }
  EXPECT_EQ(pages.requested(), 1000u);
  EXPECT_EQ(pages.nanoseconds(), 25 * kTick);
}

TEST(HugePages, AFewSlowOnesAreNotAReasonToStop) {
  HugePages pages;
  record_touch(pages, 3, kTick);
  EXPECT_TRUE(pages.wanted());
  record_touch(pages, 100, 0);
  record_touch(pages, 10, 2 * kTick);
  EXPECT_TRUE(pages.wanted());
}

TEST(HugePages, AreNotWantedOnceTheyAreSlowOnAverage) {
  HugePages pages;
  record_touch(pages, 3, 0);
  record_touch(pages, 2, 2 * kTick);
  EXPECT_FALSE(pages.wanted());
  record_touch(pages, 1000, 0);
  EXPECT_FALSE(pages.wanted()) << "never requested again";
}

// The memory of the host becomes fragmented while the program runs.
TEST(HugePages, TheLossIsBoundedHoweverLongTheyWereFast) {
  HugePages pages;
  record_touch(pages, 100'000, 0);
  int slow = 0;
  for (; pages.wanted() && slow < 1000; ++slow) pages.record_touch(9'000'000);
  EXPECT_LE(slow * 9, 500) << "milliseconds";
}

TEST(HugePages, RequestsTouchTheMemory) {
  void* memory =
      mmap(nullptr, 2 * kSlabSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  HugePages pages;
  pages.request(memory, kSlabSize);
  unsigned char resident = 0;
  ASSERT_EQ(mincore(memory, kSystemPage, &resident), 0);
  EXPECT_EQ(resident & 1, pages.requested() == 1 ? 1 : 0);  // no huge pages: none was requested
  munmap(memory, 2 * kSlabSize);
}

}  // namespace
}  // namespace halo::runtime
