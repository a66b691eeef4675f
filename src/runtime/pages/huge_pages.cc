#include "runtime/pages/huge_pages.h"

#include <sys/mman.h>
#include <time.h>

namespace halo::runtime {
namespace {

constexpr uint64_t kSmallPages = 700'000;  // first touches of as many bytes of small pages
constexpr uint64_t kGrace = 50'000'000;
constexpr uint64_t kShare = 16;

constexpr uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

// 0 if the system call is refused.
uint64_t nanoseconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

// Uses no system call.
uint64_t HugePages::now() { return nanoseconds_of(CLOCK_MONOTONIC_COARSE); }

uint64_t HugePages::lost(uint64_t at) const {
  const uint64_t passed = less(at, last_.load(std::memory_order_relaxed));
  return less(lost_.load(std::memory_order_relaxed), passed / kShare);
}

bool HugePages::wanted(uint64_t at) const { return lost(at) <= kGrace; }

void HugePages::request(void* memory, size_t bytes) {
  // Optional: the runtime works without huge pages.
  if (madvise(memory, bytes, MADV_HUGEPAGE) != 0) return;
  const uint64_t before = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
  *static_cast<volatile char*>(memory) = 0;
  record_touch(less(nanoseconds_of(CLOCK_THREAD_CPUTIME_ID), before), now());
}

void HugePages::record_touch(uint64_t nanoseconds, uint64_t at) {
  requested_.fetch_add(1, std::memory_order_relaxed);
  nanoseconds_.fetch_add(nanoseconds, std::memory_order_relaxed);
  lost_.store(less(lost(at) + nanoseconds, kSmallPages), std::memory_order_relaxed);
  last_.store(at, std::memory_order_relaxed);
}

}  // namespace halo::runtime
