// When huge pages are no longer asked for.
#include "runtime/huge_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "runtime/arena.h"

namespace halo::runtime {
namespace {

constexpr std::uint64_t quick = 100'000, slow = 9'000'000;

void note(HugePages& pages, int count, std::uint64_t nanoseconds) {
  for (int i = 0; i < count; ++i) pages.note(nanoseconds);
}

TEST(HugePages, AreWantedWhileTheyComeCheap) {
  HugePages pages;
  note(pages, 1000, quick);
  EXPECT_TRUE(pages.wanted());
  EXPECT_EQ(pages.asked(), 1000u);
}

TEST(HugePages, AFewSlowOnesAreNoReasonToStop) {
  HugePages pages;
  note(pages, 3, slow);
  EXPECT_TRUE(pages.wanted());
  note(pages, 20, quick);
  note(pages, 10, slow);
  EXPECT_TRUE(pages.wanted());
  EXPECT_EQ(pages.slow(), 13u);
}

TEST(HugePages, AreNotWantedOnceHalfAreSlow) {
  HugePages pages;
  note(pages, 3, quick);
  note(pages, 4, slow);
  EXPECT_FALSE(pages.wanted());
  note(pages, 1000, quick);
  EXPECT_FALSE(pages.wanted());
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
