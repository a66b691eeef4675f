// The memory of a scene's objects: each has its own, and each list frees its objects one by one.
#include "scene/memory.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>

#include "scene/notes.h"
#include "scene/shapes.h"

namespace scene {

void* allocate(size_t size, const char* what) {
  void* memory = std::malloc(size);
  if (memory == nullptr) {
    std::fprintf(stderr, "out of memory for %s\n", what);
    throw std::bad_alloc();
  }
  return memory;
}

void release(void* memory) { std::free(memory); }

Notes::~Notes() {
  while (last_ != nullptr) {
    Note* note = last_;
    last_ = note->previous;
    release(note);
  }
}

ShapeList::~ShapeList() {
  while (first_ != nullptr) {
    const std::unique_ptr<Shape> shape(first_);
    first_ = shape->sibling;
  }
}

}  // namespace scene
