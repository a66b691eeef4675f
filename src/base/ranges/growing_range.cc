// Growth in place, and the search for an address that allows it.
#include "base/ranges/growing_range.h"

#include <sys/mman.h>

#include "base/ranges/kernel_random.h"

namespace halo::ranges {
namespace {

constexpr int kPrivateMemory = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
constexpr size_t kAlignment = size_t{2} << 20;  // a huge page

// Kept free above the range: the kernel places later mappings there, downwards.
constexpr uintptr_t kDistance = uintptr_t{1} << 38;
constexpr uintptr_t kSpread = uintptr_t{1} << 37;

}  // namespace

// Maps from `from`, the size mapped so far, to `to`. Returns `kOccupied` if another mapping is in
// the way.
GrowingRange::Answer GrowingRange::map(size_t from, size_t to) {
  void* const at = reinterpret_cast<void*>(begin_ + from);
  mapping_.fetch_add(1);
  // The address is only a hint: the kernel uses it if the place is free.
  void* p = mmap(at, to - from, protection_, kPrivateMemory, -1, 0);
  if (p == at) mapped_.store(to);
  mapping_.fetch_sub(1);
  if (p == at) return Answer::kMapped;
  if (p == MAP_FAILED) return Answer::kRefused;
  munmap(p, to - from);
  return Answer::kOccupied;
}

bool GrowingRange::grow(size_t bytes) {
  size_t mapped = mapped_.load(std::memory_order_acquire);
  while (mapped < bytes) {
    const Answer answer = map(mapped, bytes);
    if (answer != Answer::kOccupied) return answer == Answer::kMapped;
    const size_t before = mapped;
    mapped = mapped_after(before);
    if (mapped == before) return false;
  }
  return true;
}

// The mapped size, after a mapping was found behind `before`. Waits for a thread that may have
// mapped it but not stored it yet; the wait is bounded, since a fork may have lost that thread.
size_t GrowingRange::mapped_after(size_t before) {
  constexpr int kMaxSpins = 4'000'000;  // some tenths of a second, once for each size
  const int maximum = stuck_at_.load(std::memory_order_relaxed) == before ? 0 : kMaxSpins;
  for (int i = 0; i < maximum && mapped_.load() == before && mapping_.load() != 0; ++i)
    __builtin_ia32_pause();
  const size_t mapped = mapped_.load();
  if (mapped == before) stuck_at_.store(before, std::memory_order_relaxed);
  return mapped;
}

uintptr_t find_room(size_t bytes, unsigned attempt) {
  void* const next = mmap(nullptr, kAlignment, PROT_NONE, kPrivateMemory, -1, 0);
  if (next == MAP_FAILED) return 0;
  munmap(next, kAlignment);
  const auto below = reinterpret_cast<uintptr_t>(next);
  const uintptr_t drawn = kernel_random(2) % kSpread + attempt * (kSpread + bytes);
  if (below < kDistance + drawn + bytes + kAlignment) return 0;
  return (below - kDistance - drawn - bytes) & ~(kAlignment - 1);
}

}  // namespace halo::ranges
