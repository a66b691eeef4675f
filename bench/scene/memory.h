// The one function that all objects of a scene are allocated through. What stands behind it, and
// what the lists of a scene do at their end, is in memory.cc.
#pragma once

#include <cstddef>

namespace scene {

// Throws std::bad_alloc, after naming on stderr what there was no memory for.
void* allocate(std::size_t size, const char* what);
void release(void* memory);

}  // namespace scene
