#include "runtime/pages/huge_pages.h"

#include <sys/mman.h>
#include <time.h>

namespace halo::runtime {
namespace {

// Maximum mean time of a first touch, in nanoseconds; small pages take half of it.
constexpr uint64_t kMaxEach = 1'500'000;
// After that number of touches, earlier ones count half: a long time of fast ones must not outweigh
// slow ones.
constexpr uint64_t kWindow = 256;
// Minimum total time before a stop: four ticks of the clock.
constexpr uint64_t kMinimum = 16'000'000;

// Uses no system call, since a filter might forbid it.
uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

void HugePages::request(void* memory, size_t bytes) {
  // Optional: the runtime works without huge pages.
  if (madvise(memory, bytes, MADV_HUGEPAGE) != 0) return;
  const uint64_t before = now();
  *static_cast<volatile char*>(memory) = 0;
  record_touch(now() - before);
}

void HugePages::record_touch(uint64_t nanoseconds) {
  requested_.fetch_add(1, std::memory_order_relaxed);
  nanoseconds_.fetch_add(nanoseconds, std::memory_order_relaxed);
  const uint64_t recent = recent_.fetch_add(1, std::memory_order_relaxed) + 1;
  const uint64_t took =
      recent_nanoseconds_.fetch_add(nanoseconds, std::memory_order_relaxed) + nanoseconds;
  if (took >= kMinimum && took >= recent * kMaxEach)
    stopped_.store(true, std::memory_order_relaxed);
  if (recent != kWindow) return;
  recent_.fetch_sub(kWindow / 2, std::memory_order_relaxed);
  recent_nanoseconds_.fetch_sub(took / 2, std::memory_order_relaxed);
}

}  // namespace halo::runtime
