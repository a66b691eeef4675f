// Growth in place, by many threads and next to foreign mappings.
#include "base/ranges/growing_range.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace halo::ranges {
namespace {

constexpr size_t kSystemPage = 4096;
constexpr size_t kMaximum = size_t{1} << 30;

// Starts it at a suitable address with one page, as the arena does; sanitizers may have mapped the
// first address.
bool begin(GrowingRange& range, int protection) {
  for (unsigned attempt = 0; attempt < 4; ++attempt) {
    range.set(find_room(kMaximum, attempt), 0, protection);
    if (range.begin() != 0 && range.grow(kSystemPage)) return true;
  }
  return false;
}

void keep_to_one_processor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
  sched_setaffinity(0, sizeof one, &one);
}

// On one processor, a thread is often interrupted after it has mapped memory and before it has
// stored that.
TEST(GrowingRange, GrowsForConcurrentThreads) {
  constexpr int kThreads = 8;
  constexpr size_t kStep = kSystemPage, kSteps = 10000;
  GrowingRange range;
  ASSERT_TRUE(begin(range, PROT_NONE));
  std::atomic<int> refused{0};
  std::thread([&] {
    keep_to_one_processor();  // and all threads started here
    std::vector<std::thread> workers;
    for (int i = 0; i < kThreads; ++i)
      workers.emplace_back([&] {
        for (size_t bytes = kStep; bytes <= kSteps * kStep; bytes += kStep)
          if (!range.grow(bytes)) ++refused;
      });
    for (std::thread& member : workers) member.join();
  }).join();
  EXPECT_EQ(refused, 0);
  munmap(reinterpret_cast<void*>(range.begin()), kSteps * kStep);
}

TEST(GrowingRange, StopsAtAForeignMappingWhileItExists) {
  GrowingRange range;
  ASSERT_TRUE(begin(range, PROT_READ | PROT_WRITE));
  void* const behind = reinterpret_cast<void*>(range.begin() + 2 * kSystemPage);
  void* other =
      mmap(behind, kSystemPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_EQ(other, behind);
  *static_cast<char*>(other) = 1;
  EXPECT_TRUE(range.grow(2 * kSystemPage));
  *reinterpret_cast<char*>(range.begin()) = 2;
  EXPECT_FALSE(range.grow(3 * kSystemPage));
  EXPECT_EQ(*static_cast<char*>(other), 1);
  munmap(other, kSystemPage);
  EXPECT_TRUE(range.grow(3 * kSystemPage));
  EXPECT_EQ(*static_cast<char*>(other), 0);
  EXPECT_EQ(*reinterpret_cast<char*>(range.begin()), 2);
  munmap(reinterpret_cast<void*>(range.begin()), 3 * kSystemPage);
}

}  // namespace
}  // namespace halo::ranges
