// A small static arena for what the dynamic linker allocates while the next allocator is looked up.
#pragma once

#include <cstddef>

namespace halo::runtime {

// Zeroed memory of at least `size` bytes, aligned to `alignment` (a power of two, at least 16 is
// used); nullptr when the 64 KiB are used up. Never freed.
void* bootstrap_allocate(std::size_t size, std::size_t alignment);

bool bootstrap_contains(const void* p);
bool bootstrap_was_used();

// The size that was asked for when `p`, from the bootstrap arena, was allocated.
std::size_t bootstrap_size(const void* p);

}  // namespace halo::runtime
