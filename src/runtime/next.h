// The next allocator: whatever malloc the program would have used without us.
#pragma once

#include <cstddef>

#include "runtime/exported.h"

namespace halo::runtime {

// The functions of the next allocator. Until `resolve_next` has run, each pointer leads to a stub
// that resolves first, so callers never test for null; optional functions may stay null after it.
struct NextAllocator {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void (*free)(void*);
  void* (*memalign)(std::size_t, std::size_t);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  void* (*valloc)(std::size_t);       // optional
  void* (*pvalloc)(std::size_t);      // optional
  std::size_t (*usable_size)(void*);  // optional
  // glibc's second names, which some programs use beside the first; optional.
  void (*libc_free)(void*);
  void* (*libc_realloc)(void*, std::size_t);
};

HALO_HIDDEN extern constinit NextAllocator next;

// What malloc, calloc and operator new (but that of everything grouped, every.cc) fall back to when
// an allocation is in no group. Equal to `next`'s, except while modules are to be rescanned
// (modules.h).
struct Fallback {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
};

HALO_HIDDEN extern constinit Fallback fallback;

// Finds the next allocator's functions; idempotent. Called by the first allocation of the process,
// which may come before any constructor.
void resolve_next();

}  // namespace halo::runtime
