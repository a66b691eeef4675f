#include "runtime/pages/huge_pages.h"

#include <sys/mman.h>
#include <time.h>

namespace halo::runtime {
namespace {

// Maximum mean time of a first touch, in nanoseconds; small pages take half of it.
constexpr std::uint64_t max_each = 1'500'000;
// Minimum total time before a stop: four ticks of the clock.
constexpr std::uint64_t minimum = 16'000'000;

// Uses no system call, since a filter might forbid it.
std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

void HugePages::request(void* memory, std::size_t bytes) {
  // Optional: the runtime works without huge pages.
  if (madvise(memory, bytes, MADV_HUGEPAGE) != 0) return;
  const std::uint64_t before = now();
  *static_cast<volatile char*>(memory) = 0;
  record_touch(now() - before);
}

void HugePages::record_touch(std::uint64_t nanoseconds) {
  const std::uint64_t requested = requested_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (nanoseconds == 0) return;
  const std::uint64_t all =
      nanoseconds_.fetch_add(nanoseconds, std::memory_order_relaxed) + nanoseconds;
  if (all >= minimum && all >= requested * max_each)
    stopped_.store(true, std::memory_order_relaxed);
}

}  // namespace halo::runtime
