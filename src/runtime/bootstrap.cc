// The bootstrap arena: bump allocation with the size kept in front of each block.
#include "runtime/bootstrap.h"

#include <atomic>
#include <cstdint>

namespace halo::runtime {
namespace {

constexpr std::size_t capacity = 64 * 1024;
constexpr std::size_t header = 16;

alignas(64) constinit unsigned char memory[capacity]{};
constinit std::atomic<std::size_t> used{0};

}  // namespace

void* bootstrap_allocate(std::size_t size, std::size_t alignment) {
  if (alignment < 16) alignment = 16;
  if (size > capacity || alignment > capacity) return nullptr;
  const std::size_t need = size + header + alignment + 15;
  const std::size_t at = used.fetch_add(need & ~std::size_t{15}, std::memory_order_relaxed);
  if (at + need > capacity) return nullptr;
  auto address = reinterpret_cast<std::uintptr_t>(memory) + at + header;
  address = (address + alignment - 1) & ~(alignment - 1);
  reinterpret_cast<std::size_t*>(address)[-1] = size;
  return reinterpret_cast<void*>(address);
}

bool bootstrap_contains(const void* p) {
  const auto offset =
      reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(memory);
  return offset < capacity;
}

bool bootstrap_was_used() { return used.load(std::memory_order_relaxed) != 0; }

std::size_t bootstrap_size(const void* p) { return static_cast<const std::size_t*>(p)[-1]; }

}  // namespace halo::runtime
