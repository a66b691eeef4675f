// Growth in place, and the search for an address that allows it.
#include "base/ranges/growing_range.h"

#include <sys/mman.h>

#include "base/ranges/kernel_random.h"

namespace halo::ranges {
namespace {

constexpr int private_memory = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
constexpr std::size_t alignment = std::size_t{2} << 20;  // a huge page

// Kept free above the range: the kernel places later mappings there, downwards.
constexpr std::uintptr_t distance = std::uintptr_t{1} << 38;
constexpr std::uintptr_t spread = std::uintptr_t{1} << 37;

}  // namespace

// Maps from `from`, the size mapped so far, to `to`. Returns `occupied` if another mapping is in
// the way.
GrowingRange::Answer GrowingRange::map(std::size_t from, std::size_t to) {
  void* const at = reinterpret_cast<void*>(begin_ + from);
  mapping_.fetch_add(1);
  // The address is only a hint: the kernel uses it if the place is free.
  void* p = mmap(at, to - from, protection_, private_memory, -1, 0);
  if (p == at) mapped_.store(to);
  mapping_.fetch_sub(1);
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

// The mapped size, after a mapping was found behind `before`. Waits for a thread that may have
// mapped it but not stored it yet; the wait is bounded, since a fork may have lost that thread.
std::size_t GrowingRange::mapped_after(std::size_t before) {
  constexpr int max_spins = 4'000'000;  // some tenths of a second, once for each size
  const int maximum = stuck_at_.load(std::memory_order_relaxed) == before ? 0 : max_spins;
  for (int i = 0; i < maximum && mapped_.load() == before && mapping_.load() != 0; ++i)
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

}  // namespace halo::ranges
