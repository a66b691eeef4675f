// Growth in place, and where there is room for it.
#include "runtime/growing_range.h"

#include <sys/mman.h>

#include "runtime/kernel_random.h"

namespace halo::runtime {
namespace {

constexpr int private_memory = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
constexpr std::size_t alignment = std::size_t{2} << 20;  // a huge page

// Kept free above the range, where the kernel goes on with other mappings, downwards.
constexpr std::uintptr_t distance = std::uintptr_t{1} << 40;
constexpr std::uintptr_t spread = std::uintptr_t{1} << 39;

}  // namespace

bool GrowingRange::grow(std::size_t bytes) {
  std::size_t mapped = mapped_.load(std::memory_order_acquire);
  while (mapped < bytes) {
    void* const at = reinterpret_cast<void*>(begin_ + mapped);
    const std::size_t more = bytes - mapped;
    // (A kernel that does not know the flag takes the address as a wish.)
    void* p = mmap(at, more, protection_, private_memory | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == at) {
      mapped_.store(bytes, std::memory_order_release);
      return true;
    }
    if (p != MAP_FAILED) munmap(p, more);
    const std::size_t before = mapped;
    mapped = mapped_.load(std::memory_order_acquire);
    if (mapped == before) return false;  // or another thread has just mapped it
  }
  return true;
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
