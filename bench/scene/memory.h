// The one function that all objects of a scene are allocated through.
#pragma once

#include <cstddef>

namespace scene {

// Throws std::bad_alloc, after naming on stderr what there was no memory for.
void* allocate(std::size_t size, const char* what);
void release(void* memory);

}  // namespace scene
