// A small static arena for the dynamic linker's allocations while the next allocator is resolved.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace halo {

namespace bootstrap {

inline constexpr size_t kCapacity = 64 * 1024;
inline constexpr size_t kHeader = 16;  // before each block: its requested size in the last word

alignas(4096) inline constinit unsigned char memory[kCapacity]{};
// Bytes taken from the start of `memory`; threads take theirs by one atomic addition.
inline constinit std::atomic<size_t> used{0};

}  // namespace bootstrap

// Returns zeroed memory of at least `size` bytes, aligned to `alignment`: a power of two, of which
// at least 16 is used. Returns nullptr if the 64 KiB are used up. The memory is never freed.
inline void* bootstrap_allocate(size_t size, size_t alignment = 16) {
  using namespace bootstrap;
  if (alignment < 16) alignment = 16;
  if (size > kCapacity || alignment > kCapacity) return nullptr;
  const size_t need = size + kHeader + alignment + 15;
  const size_t at = used.fetch_add(need & ~size_t{15}, std::memory_order_relaxed);
  if (at + need > kCapacity) return nullptr;
  auto address = reinterpret_cast<uintptr_t>(memory) + at + kHeader;
  address = (address + alignment - 1) & ~(alignment - 1);
  reinterpret_cast<size_t*>(address)[-1] = size;
  return reinterpret_cast<void*>(address);
}

inline bool bootstrap_contains(const void* p) {
  const auto offset =
      reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(bootstrap::memory);
  return offset < bootstrap::kCapacity;
}

inline bool bootstrap_was_used() { return bootstrap::used.load(std::memory_order_relaxed) != 0; }

// The requested size of the block `p`, which must be of the bootstrap arena.
inline size_t bootstrap_size(const void* p) { return static_cast<const size_t*>(p)[-1]; }

// Copies a block of the bootstrap arena into `moved`, which has `size` bytes or is nullptr.
inline void* move_from_bootstrap(void* moved, size_t size, const void* p) {
  const size_t old = bootstrap_size(p);
  return moved == nullptr ? nullptr : std::memcpy(moved, p, old < size ? old : size);
}

}  // namespace halo
