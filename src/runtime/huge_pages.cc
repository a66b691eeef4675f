#include "runtime/huge_pages.h"

#include <sys/mman.h>
#include <time.h>

namespace halo::runtime {
namespace {

// A first touch that takes longer than small pages would.
constexpr std::uint64_t slow_from = 1'500'000;
// So many slow ones, and half of all, are enough.
constexpr std::uint32_t enough = 4;

// Of this thread: while others run in its place, none passes.
std::uint64_t processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

void HugePages::ask(void* memory, std::size_t bytes) {
  // A wish: without it everything works the same.
  if (madvise(memory, bytes, MADV_HUGEPAGE) != 0) return;
  const std::uint64_t before = processor_time();
  *static_cast<volatile char*>(memory) = 0;
  note(processor_time() - before);
}

void HugePages::note(std::uint64_t nanoseconds) {
  const std::uint32_t asked = asked_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (nanoseconds < slow_from) return;
  const std::uint32_t slow = slow_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (slow >= enough && slow * 2 >= asked) stopped_.store(true, std::memory_order_relaxed);
}

}  // namespace halo::runtime
