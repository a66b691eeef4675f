// Huge pages are no longer requested once they are slow.
#include "runtime/pages/huge_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "runtime/pages/arena.h"

namespace halo::runtime {
namespace {

// The period of a clock that ticks every 4 ms.
constexpr uint64_t kTick = 4'000'000;
constexpr uint64_t kSecond = 1'000'000'000;

// Records touches one after another, without a break.
class Touches {
 public:
  void add(int count, uint64_t nanoseconds) {
    for (int i = 0; i < count; ++i) {
      at_ += nanoseconds;
      pages.record_touch(nanoseconds, at_);
    }
  }
  void pause(uint64_t nanoseconds) { at_ += nanoseconds; }
  bool wanted() const { return pages.wanted(at_); }

  HugePages pages;

 private:
  uint64_t at_ = kSecond;
};

TEST(HugePages, AreWantedWhileTheyComeCheap) {
  Touches touches;
  // 0.1 ms each.
  for (int i = 0; i < 25; ++i) {
    touches.add(1, kTick);
    touches.add(39, 0);
    EXPECT_TRUE(touches.wanted());
  }
  EXPECT_EQ(touches.pages.requested(), 1000u);
  EXPECT_EQ(touches.pages.nanoseconds(), 25 * kTick);
}

TEST(HugePages, AFewSlowOnesAreNotAReasonToStop) {
  Touches touches;
  touches.add(8, kTick);
  EXPECT_TRUE(touches.wanted());
  touches.add(100, 0);
  touches.add(6, 2 * kTick);
  EXPECT_TRUE(touches.wanted());
}

TEST(HugePages, AreNotWantedWhileTheyAreSlow) {
  Touches touches;
  touches.add(3, 0);
  touches.add(10, 2 * kTick);
  EXPECT_FALSE(touches.wanted());
  touches.pause(kSecond);
  EXPECT_TRUE(touches.wanted()) << "what they took is a small share of the time now";
}

// The memory of the host becomes fragmented while the program runs.
TEST(HugePages, TheLossIsBoundedHoweverLongTheyWereFast) {
  Touches touches;
  touches.add(100'000, 0);
  touches.pause(1000 * kSecond);
  int slow = 0;
  for (; touches.wanted() && slow < 1000; ++slow) touches.add(1, 9'000'000);
  EXPECT_LE(slow * 9, 70) << "milliseconds";
}

TEST(HugePages, TheLossIsAShareOfTheTimeHoweverOftenTheyAreTried) {
  Touches touches;
  int slow = 0;
  for (int i = 0; i < 10'000; ++i) {  // 100 s
    touches.pause(10'000'000);
    if (!touches.wanted()) continue;
    touches.add(1, 9'000'000);
    ++slow;
  }
  EXPECT_LE(slow * 9, 8'000) << "milliseconds";
  EXPECT_GE(slow * 9, 4'000) << "they are tried again";
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
