// The memory of a scene's objects: one region, which is freed as a whole when the program ends.
#include "scene/memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "scene/notes.h"
#include "scene/shapes.h"

namespace scene {

namespace {

// Hands out memory from the front of large blocks, and frees the blocks.
class Region {
 public:
  constexpr Region() = default;
  ~Region() {
    while (newest_ != nullptr) {
      Block* block = newest_;
      newest_ = block->previous;
      std::free(block);
    }
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  // Null if no memory is left.
  void* take(size_t size) {
    const size_t whole = (size + kAlignment - 1) / kAlignment * kAlignment;
    if (whole > left_ && !add_block(whole)) {
      return nullptr;
    }
    void* memory = next_;
    next_ += whole;
    left_ -= whole;
    return memory;
  }

 private:
  static constexpr size_t kBlockSize = size_t{64} << 10;
  static constexpr size_t kAlignment = alignof(void*);  // no object of a scene needs more

  struct Block {
    Block* previous;
  };

  bool add_block(size_t needed) {
    const size_t size = std::max(kBlockSize, sizeof(Block) + needed);
    void* memory = std::malloc(size);
    if (memory == nullptr) {
      return false;
    }
    newest_ = new (memory) Block{newest_};
    next_ = static_cast<char*>(memory) + sizeof(Block);
    left_ = size - sizeof(Block);
    return true;
  }

  Block* newest_ = nullptr;
  char* next_ = nullptr;
  size_t left_ = 0;
};

Region region;

}  // namespace

void* allocate(size_t size, const char* what) {
  void* memory = region.take(size);
  if (memory == nullptr) {
    std::fprintf(stderr, "out of memory for %s\n", what);
    throw std::bad_alloc();
  }
  return memory;
}

// What one object had stays in the region: that of a malformed statement, too.
void release(void* /*memory*/) {}

// The objects of a list own nothing outside the region, so they need not be visited again.
Notes::~Notes() = default;
ShapeList::~ShapeList() = default;

}  // namespace scene
