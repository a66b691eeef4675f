// The allocation functions that a preloaded library forwards to: those of the next library.
#pragma once

#include <dlfcn.h>

#include <cstddef>

#include "base/old_c_library.h"

namespace halo {

struct NextFunctions {
  void* (*malloc)(size_t);
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void (*free)(void*);
  void* (*memalign)(size_t, size_t);
  int (*posix_memalign)(void**, size_t, size_t);
  void* (*aligned_alloc)(size_t, size_t);
  void* (*valloc)(size_t);
  void* (*pvalloc)(size_t);
};

// Sets `function` to the next library's function of that name, if there is one.
template <typename Function>
void look_up_next(Function& function, const char* name) {
  if (void* found = find_symbol(RTLD_NEXT, name)) function = reinterpret_cast<Function>(found);
}

// Sets all members that the next library has. dlsym may allocate.
inline void look_up_next(NextFunctions& functions) {
  look_up_next(functions.malloc, "malloc");
  look_up_next(functions.calloc, "calloc");
  look_up_next(functions.realloc, "realloc");
  look_up_next(functions.free, "free");
  look_up_next(functions.memalign, "memalign");
  look_up_next(functions.posix_memalign, "posix_memalign");
  look_up_next(functions.aligned_alloc, "aligned_alloc");
  look_up_next(functions.valloc, "valloc");
  look_up_next(functions.pvalloc, "pvalloc");
}

}  // namespace halo
