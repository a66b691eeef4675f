// In the static library: the program's allocator.
#include <malloc.h>

#include <cstdlib>

#include "tidy/fallback.h"

namespace halo::tidy::fallback {

void* allocate(size_t size) { return std::malloc(size); }
void* allocate_aligned(size_t alignment, size_t size) { return memalign(alignment, size); }
void* allocate_zeroed(size_t count, size_t size) { return std::calloc(count, size); }
void* reallocate(void* p, size_t size) { return std::realloc(p, size); }
void free(void* p) { std::free(p); }
size_t usable_size(void* p) { return malloc_usable_size(p); }

}  // namespace halo::tidy::fallback
