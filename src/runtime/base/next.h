// The next allocator: the malloc that the program uses without the runtime.
#pragma once

#include <cstddef>

#include "base/next_functions.h"
#include "runtime/base/exported.h"

namespace halo::runtime {

// The functions of the next allocator. Until `resolve_next` has run, each pointer refers to a stub
// that resolves first, so callers never test for null. Optional functions may stay null.
struct NextAllocator : NextFunctions {
  std::size_t (*usable_size)(void*);  // optional
  // glibc's aliases of free and realloc, which some programs call as well; optional.
  void (*libc_free)(void*);
  void* (*libc_realloc)(void*, std::size_t);
};

HALO_HIDDEN extern constinit NextAllocator next;

// The fallback of malloc, calloc and operator new for allocations that belong to no group. Under a
// global policy, operator new has its own (global_policy.cc). Equals `next`, except while a module
// rescan is due (modules.h).
struct Fallback {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
};

HALO_HIDDEN extern constinit Fallback fallback;

// Resolves the next allocator's functions; idempotent. The first allocation of the process calls
// it, possibly before any constructor.
void resolve_next();

}  // namespace halo::runtime
