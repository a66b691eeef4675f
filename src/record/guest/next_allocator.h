// The allocator that the guest library forwards to.
#pragma once

#include <cstddef>

namespace halo::record::guest {

struct NextAllocator {
  void* (*malloc)(size_t);
  void (*free)(void*);
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void* (*memalign)(size_t, size_t);
  int (*posix_memalign)(void**, size_t, size_t);
  void* (*aligned_alloc)(size_t, size_t);
  void* (*valloc)(size_t);
  void* (*pvalloc)(size_t);
};

// Null only while its own look-up is under way on this thread (dlsym may allocate): use the
// bootstrap arena then.
const NextAllocator* next_allocator();

// Serves the few allocations of the look-up itself; never reuses memory. Null when exhausted.
void* bootstrap_allocate(size_t size, size_t alignment = 16);
bool from_bootstrap(const void* address);
// How many bytes may be read from an address in the arena.
size_t bootstrap_room(const void* address);

}  // namespace halo::record::guest
