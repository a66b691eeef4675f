#include "runtime/huge_pages.h"

#include <sys/mman.h>
#include <time.h>

namespace halo::runtime {
namespace {

// What a first touch may take on average: small pages would take half of that.
constexpr std::uint64_t most_each = 1'500'000;
// Less than that in all is no reason to stop: four ticks of the clock.
constexpr std::uint64_t least = 16'000'000;

// Never by a system call, which a filter might forbid.
std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

void HugePages::ask(void* memory, std::size_t bytes) {
  // A wish: without it everything works the same.
  if (madvise(memory, bytes, MADV_HUGEPAGE) != 0) return;
  const std::uint64_t before = now();
  *static_cast<volatile char*>(memory) = 0;
  note(now() - before);
}

void HugePages::note(std::uint64_t nanoseconds) {
  const std::uint64_t asked = asked_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (nanoseconds == 0) return;
  const std::uint64_t all =
      nanoseconds_.fetch_add(nanoseconds, std::memory_order_relaxed) + nanoseconds;
  if (all >= least && all >= asked * most_each) stopped_.store(true, std::memory_order_relaxed);
}

}  // namespace halo::runtime
