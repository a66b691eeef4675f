// When huge pages are no longer asked for.
#include "runtime/huge_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "runtime/arena.h"

namespace halo::runtime {
namespace {

// Of a clock that ticks every 4 ms.
constexpr std::uint64_t tick = 4'000'000;

void note(HugePages& pages, int count, std::uint64_t nanoseconds) {
  for (int i = 0; i < count; ++i) pages.note(nanoseconds);
}

TEST(HugePages, AreWantedWhileTheyComeCheap) {
  HugePages pages;
  // 0.1 ms each.
  for (int i = 0; i < 25; ++i) {
    note(pages, 1, tick);
    note(pages, 39, 0);
    EXPECT_TRUE(pages.wanted());
  }
  EXPECT_EQ(pages.asked(), 1000u);
  EXPECT_EQ(pages.nanoseconds(), 25 * tick);
}

TEST(HugePages, AFewSlowOnesAreNoReasonToStop) {
  HugePages pages;
  note(pages, 3, tick);
  EXPECT_TRUE(pages.wanted());
  note(pages, 100, 0);
  note(pages, 10, 2 * tick);
  EXPECT_TRUE(pages.wanted());
}

TEST(HugePages, AreNotWantedOnceTheyAreSlowOnAverage) {
  HugePages pages;
  note(pages, 3, 0);
  note(pages, 2, 2 * tick);
  EXPECT_FALSE(pages.wanted());
  note(pages, 1000, 0);
  EXPECT_FALSE(pages.wanted()) << "for good";
}

TEST(HugePages, AskingTouchesTheMemory) {
  void* memory =
      mmap(nullptr, 2 * slab_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  HugePages pages;
  pages.ask(memory, slab_size);
  unsigned char resident = 0;
  ASSERT_EQ(mincore(memory, system_page, &resident), 0);
  EXPECT_EQ(resident & 1, pages.asked() == 1 ? 1 : 0);  // no huge pages: nothing was asked
  munmap(memory, 2 * slab_size);
}

}  // namespace
}  // namespace halo::runtime
