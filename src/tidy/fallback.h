// The allocator of what Tidy does not place: that of the program, or the next library's.
#pragma once

#include <cstddef>

namespace halo::tidy::fallback {

void* allocate(size_t size);
void* allocate_aligned(size_t alignment, size_t size);
void* allocate_zeroed(size_t count, size_t size);
void* reallocate(void* p, size_t size);
void free(void* p);
size_t usable_size(void* p);

}  // namespace halo::tidy::fallback
