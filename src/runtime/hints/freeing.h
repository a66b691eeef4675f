// Frees of hinted objects.
#pragma once

namespace halo::runtime {

// From here on, the functions of the next allocator that take a block of the program also take one
// of Tidy. So the paths of all other blocks do not change. Once, before the first hinted object.
void free_hinted_blocks();

// Frees a block of Tidy.
void free_hinted(void* p);

}  // namespace halo::runtime
