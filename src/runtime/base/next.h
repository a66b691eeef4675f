// The next allocator: the malloc that the program uses without the runtime.
#pragma once

#include <cstddef>

#include "base/next_functions.h"
#include "runtime/base/exported.h"

namespace halo::runtime {

// The functions of the next allocator. Until `resolve_next` has run, each pointer refers to a stub
// that resolves first, so callers never test for null. Optional functions may stay null.
struct NextAllocator : NextFunctions {
  size_t (*usable_size)(void*);  // optional
  // glibc's aliases of free and realloc, which some programs call as well; optional.
  void (*libc_free)(void*);
  void* (*libc_realloc)(void*, size_t);
  void (*free_of_new)(void*);  // for operator delete: `free`, or the one that the program defines

  void set_free(void (*function)(void*)) { free = free_of_new = function; }
};

HALO_HIDDEN extern constinit NextAllocator next;

// What operator new calls if the program defines malloc and free itself, as the C++ library's
// would: blocks of both are mixed (detach.h). The program's calls of malloc do not reach the
// runtime, so no plan is active. Set by `resolve_next`.
struct ProgramsAllocator {
  void* (*malloc)(size_t);                 // null if the program defines none
  void* (*aligned_alloc)(size_t, size_t);  // likewise
};

HALO_HIDDEN extern constinit ProgramsAllocator programs_allocator;

// The fallback of malloc, calloc and operator new for allocations that belong to no group. Under a
// global policy, operator new has its own (global_policy.cc). Equals `next`, except while a module
// rescan is due (modules.h).
struct Fallback {
  void* (*malloc)(size_t);
  void* (*calloc)(size_t, size_t);
};

HALO_HIDDEN extern constinit Fallback fallback;

// Resolves the next allocator's functions; idempotent. The first allocation of the process calls
// it, possibly before any constructor.
void resolve_next();

}  // namespace halo::runtime
