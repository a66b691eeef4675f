// The one function that all objects of a scene are allocated through.
#include "scene/memory.h"

#include <cstdio>
#include <cstdlib>
#include <new>

namespace scene {

void* allocate(std::size_t size, const char* what) {
  void* memory = std::malloc(size);
  if (memory == nullptr) {
    std::fprintf(stderr, "out of memory for %s\n", what);
    throw std::bad_alloc();
  }
  return memory;
}

void release(void* memory) { std::free(memory); }

}  // namespace scene
