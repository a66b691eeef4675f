// The one function that allocates all objects of a scene; memory.cc has the allocator behind it,
// and the destruction of a scene's lists.
#pragma once

#include <cstddef>

namespace scene {

// Throws std::bad_alloc, after reporting on stderr which allocation failed.
void* allocate(size_t size, const char* what);
void release(void* memory);

}  // namespace scene
