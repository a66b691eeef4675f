// The heaps that a thread has of its own.
#pragma once

#include <cstdint>

#include "tidy/context.h"

namespace halo::tidy {

// A thread's place in a context.
struct ThreadPlace {
  uint64_t context;   // its number, or 0: the place is unused
  SharedHeap* heap;   // its own heap, or nullptr
  uint32_t to_avoid;  // allocations for which it does not try the shared heap
  uint32_t avoided;   // that number when the shared heap was busy last, or 0
  uint32_t served;    // allocations by the shared heap since then, up to a limit
};

// Must run before place_in, once.
void prepare_threads();

// The calling thread's place in a context. nullptr if memory is refused, or if the thread is
// ending.
ThreadPlace* place_in(uint64_t context);

}  // namespace halo::tidy
