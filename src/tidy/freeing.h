// Whether the blocks that replace those of an allocator are freed by this library.
#pragma once

#include <cstddef>

namespace halo::tidy {

// `allocator` is malloc or operator new, as a part of the process calls it. True if it is that of
// the C or C++ library, and if the process calls free, realloc, malloc_usable_size and operator
// delete of this library: no preloaded allocator, sanitizer or function of the program is in front.
// Lock-free; the first call for an allocator looks the functions up.
bool frees_blocks_of(void* (*allocator)(size_t));

}  // namespace halo::tidy
