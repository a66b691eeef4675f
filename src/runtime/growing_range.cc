// Growth in place, and where there is room for it.
#include "runtime/growing_range.h"

#include <sys/mman.h>

#include "runtime/kernel_random.h"

namespace halo::runtime {
namespace {

constexpr int private_memory = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
constexpr std::size_t alignment = std::size_t{2} << 20;  // a huge page

// Kept free above the range, where the kernel goes on with other mappings, downwards.
constexpr std::uintptr_t distance = std::uintptr_t{1} << 38;
constexpr std::uintptr_t spread = std::uintptr_t{1} << 37;

}  // namespace

// Maps from `from` to `to`, where `from` bytes are mapped. `occupied`: something lies there.
GrowingRange::Answer GrowingRange::map(std::size_t from, std::size_t to) {
  void* const at = reinterpret_cast<void*>(begin_ + from);
  asking_.fetch_add(1);
  // The address is a wish, which the kernel grants where nothing lies there.
  void* p = mmap(at, to - from, protection_, private_memory, -1, 0);
  if (p == at) mapped_.store(to);
  asking_.fetch_sub(1);
  if (p == at) return Answer::mapped;
  if (p == MAP_FAILED) return Answer::refused;
  munmap(p, to - from);
  return Answer::occupied;
}

bool GrowingRange::grow(std::size_t bytes) {
  std::size_t mapped = mapped_.load(std::memory_order_acquire);
  while (mapped < bytes) {
    const Answer answer = map(mapped, bytes);
    if (answer != Answer::occupied) return answer == Answer::mapped;
    const std::size_t before = mapped;
    mapped = mapped_after(before);
    if (mapped == before) return false;
  }
  return true;
}

// What is mapped, where something lies behind `before`: waits for a thread that may have mapped it
// and been interrupted then, but not for one that was lost in a fork.
std::size_t GrowingRange::mapped_after(std::size_t before) {
  constexpr int patience = 4'000'000;  // some tenths of a second, once for each place
  const int most = stuck_at_.load(std::memory_order_relaxed) == before ? 0 : patience;
  for (int i = 0; i < most && mapped_.load() == before && asking_.load() != 0; ++i)
    __builtin_ia32_pause();
  const std::size_t mapped = mapped_.load();
  if (mapped == before) stuck_at_.store(before, std::memory_order_relaxed);
  return mapped;
}

std::uintptr_t find_room(std::size_t bytes, unsigned attempt) {
  void* const next = mmap(nullptr, alignment, PROT_NONE, private_memory, -1, 0);
  if (next == MAP_FAILED) return 0;
  munmap(next, alignment);
  const auto below = reinterpret_cast<std::uintptr_t>(next);
  const std::uintptr_t drawn = kernel_random(2) % spread + attempt * (spread + bytes);
  if (below < distance + drawn + bytes + alignment) return 0;
  return (below - distance - drawn - bytes) & ~(alignment - 1);
}

}  // namespace halo::runtime
