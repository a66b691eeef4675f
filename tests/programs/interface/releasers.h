// All ways to free a block, and the kinds of blocks that each accepts.
#pragma once

#include <dlfcn.h>

#include <new>

#include "request.h"

struct Releaser {
  const char* name;
  void (*release)(void*, const Request&);
  unsigned takes;
};

// Functions that the C library may not declare: cfree was removed, the others are new in C23. If
// they are missing (in a recording, or without the runtime), free replaces them.
template <typename Function>
Function* newest(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}
inline const auto old_cfree = newest<void(void*)>("cfree");
inline const auto c23_free_sized = newest<void(void*, size_t)>("free_sized");
inline const auto c23_free_aligned_sized =
    newest<void(void*, size_t, size_t)>("free_aligned_sized");

inline bool has_newest() { return old_cfree && c23_free_sized && c23_free_aligned_sized; }

inline std::align_val_t of(const Request& r) { return std::align_val_t{r.alignment}; }

// Some allocators return a block of no bytes for realloc to 0.
inline void finish(void* rest) {
  if (rest != nullptr) free(rest);
}

constexpr Releaser releasers[] = {
    {"free", [](void* p, const Request&) { free(p); }, sized | aligned | plain},
    {"realloc to nothing", [](void* p, const Request&) { finish(realloc(p, 0)); },
     sized | aligned | plain},
    {"reallocarray to nothing", [](void* p, const Request&) { finish(reallocarray(p, 8, 0)); },
     sized | aligned | plain},
    {"cfree", [](void* p, const Request&) { old_cfree ? old_cfree(p) : free(p); },
     sized | aligned | plain},
    {"free_sized",
     [](void* p, const Request& r) { c23_free_sized ? c23_free_sized(p, r.size) : free(p); },
     sized},
    // Groups serve no blocks of aligned_alloc, so those of malloc replace them.
    {"free_aligned_sized",
     [](void* p, const Request& r) {
       c23_free_aligned_sized ? c23_free_aligned_sized(p, r.alignment, r.size) : free(p);
     },
     sized | aligned},
    {"delete", [](void* p, const Request&) { ::operator delete(p); }, object},
    {"delete sized", [](void* p, const Request& r) { ::operator delete(p, r.size); }, object},
    {"delete nothrow", [](void* p, const Request&) { ::operator delete(p, std::nothrow); }, object},
    {"delete[]", [](void* p, const Request&) { ::operator delete[](p); }, array},
    {"delete[] sized", [](void* p, const Request& r) { ::operator delete[](p, r.size); }, array},
    {"delete[] nothrow", [](void* p, const Request&) { ::operator delete[](p, std::nothrow); },
     array},
    {"delete aligned", [](void* p, const Request& r) { ::operator delete(p, of(r)); }, wide_object},
    {"delete aligned sized", [](void* p, const Request& r) { ::operator delete(p, r.size, of(r)); },
     wide_object},
    {"delete aligned nothrow",
     [](void* p, const Request& r) { ::operator delete(p, of(r), std::nothrow); }, wide_object},
    {"delete[] aligned", [](void* p, const Request& r) { ::operator delete[](p, of(r)); },
     wide_array},
    {"delete[] aligned sized",
     [](void* p, const Request& r) { ::operator delete[](p, r.size, of(r)); }, wide_array},
    {"delete[] aligned nothrow",
     [](void* p, const Request& r) { ::operator delete[](p, of(r), std::nothrow); }, wide_array},
};
