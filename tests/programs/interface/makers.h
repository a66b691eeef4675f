// All ways to get a block. Each is a call site of its own, named as the functions here, so that a
// plan can group it; the realloc family shares the three sites of take, resize and resize_array.
#pragma once

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include <new>

#include "request.h"

struct Maker {
  const char* name;
  void* (*make)(Request&);
  Kind kind;
  bool choosy;  // takes an alignment
};

inline void* make_malloc(Request& r) { return malloc(r.size); }

inline void* zeroed(void* p, Request& r) {
  if (!is_zero(p, r.size)) broken("calloc", "is not zeroed", r.size);
  return p;
}
inline void* make_calloc(Request& r) { return zeroed(calloc(1, r.size), r); }
inline void* make_calloc_items(Request& r) { return zeroed(calloc(r.size, 1), r); }

inline void* make_realloc(Request& r) { return realloc(nullptr, r.size); }
inline void* make_reallocarray(Request& r) { return reallocarray(nullptr, r.size, 1); }

inline void* take(size_t size) {
  void* p = malloc(size);
  fill(p, size, 5);
  return p;
}

inline void* moved(void* p, size_t before, size_t size) {
  size_t kept = before < size ? before : size;
  if (kept < before && before > whole)
    kept = kept < edge ? kept : edge;  // only that much was filled
  if (!holds(p, kept, 5)) broken("realloc", "contents are lost", size);
  fill(p, size, 5);
  return p;
}
inline void* resize(void* p, size_t before, size_t size) {
  return moved(realloc(p, size), before, size);
}
inline void* resize_array(void* p, size_t before, size_t size) {
  return moved(reallocarray(p, size, 1), before, size);
}

// Larger than any grouped object.
constexpr size_t large = 20000;

inline void* make_grown(Request& r) {
  const size_t half = r.size / 2 + 1;
  return resize(take(half), half, r.size);
}
inline void* make_grown_array(Request& r) {
  const size_t half = r.size / 2 + 1;
  return resize_array(take(half), half, r.size);
}
inline void* make_shrunk(Request& r) {
  const size_t more = r.size * 3 + 64;
  return resize(take(more), more, r.size);
}
// The smaller size may need a larger alignment than the larger one: 16 bytes after 24.
inline void* make_shrunk_a_little(Request& r) {
  return resize(take(r.size + 8), r.size + 8, r.size);
}
inline void* make_shrunk_from_large(Request& r) { return resize(take(large), large, r.size); }
inline void* make_there_and_back(Request& r) {
  const size_t far = r.size + large;
  return resize_array(resize(take(r.size), r.size, far), far, r.size);
}
inline void* make_from_nothing(Request& r) { return resize(malloc(0), 0, r.size); }
inline void* make_from_aligned(Request& r) {
  void* p = memalign(256, 100);
  fill(p, 100, 5);
  return resize(p, 100, r.size);
}
inline void* make_step_by_step(Request& r) {
  size_t size = 1;
  void* p = take(size);
  for (size_t more = 5; more < r.size; more = more * 2 + 3) {
    p = resize(p, size, more);
    size = more;
  }
  return resize(p, size, r.size);
}

inline void* make_memalign(Request& r) { return memalign(r.alignment, r.size); }
inline void* make_aligned_alloc(Request& r) { return aligned_alloc(r.alignment, r.size); }
inline void* make_posix_memalign(Request& r) {
  void* p = nullptr;
  return posix_memalign(&p, r.alignment, r.size) == 0 ? p : nullptr;
}
inline void* make_valloc(Request& r) {
  r.alignment = page;
  return valloc(r.size);
}
inline void* make_pvalloc(Request& r) {
  r.alignment = page;
  r.size = (r.size + page - 1) & ~(page - 1);
  return pvalloc(r.size - page + 1);
}

// Memory that the C library allocates and the program frees.

// `size - 1` characters, at least one.
inline const char* text_of(size_t size) {
  static char text[300000];
  if (text[0] == 0) memset(text, 'x', sizeof text - 1);
  return text + sizeof text - (size < 2 ? 2 : size);
}
inline void* text(char* made, Request& r) {
  r.size = made == nullptr ? 0 : strlen(made) + 1;
  return made;
}
inline void* make_strdup(Request& r) { return text(strdup(text_of(r.size)), r); }
inline void* make_strndup(Request& r) { return text(strndup(text_of(299999), r.size), r); }
inline void* make_asprintf(Request& r) {
  char* made = nullptr;
  return asprintf(&made, "%s", text_of(r.size)) < 0 ? nullptr : text(made, r);
}
inline void* make_getline(Request& r) {
  const char* from = text_of(r.size);
  FILE* file = fmemopen(const_cast<char*>(from), strlen(from), "r");
  char* made = nullptr;
  size_t room = 0;
  if (file == nullptr || getline(&made, &room, file) < 0) return nullptr;
  fclose(file);
  return text(made, r);
}
inline void* make_memstream(Request& r) {
  char* made = nullptr;
  size_t length = 0;
  FILE* file = open_memstream(&made, &length);
  fputs(text_of(r.size), file);
  fclose(file);
  return text(made, r);
}
inline void* make_sscanf(Request& r) {
  char* made = nullptr;
  return sscanf(text_of(r.size), "%ms", &made) == 1 ? text(made, r) : nullptr;
}
inline void* make_wcsdup(Request& r) {
  static wchar_t wide[4097];
  const size_t letters = r.size / sizeof(wchar_t) < 4096 ? r.size / sizeof(wchar_t) : 4096;
  wmemset(wide, L'w', letters);
  wide[letters] = 0;
  r.size = (letters + 1) * sizeof(wchar_t);
  return wcsdup(wide);
}
inline void* make_realpath(Request& r) { return text(realpath("/usr/bin/../lib", nullptr), r); }
inline void* make_getcwd(Request& r) { return text(getcwd(nullptr, 0), r); }

inline std::align_val_t wide(const Request& r) { return std::align_val_t{r.alignment}; }

inline void* make_new(Request& r) { return ::operator new(r.size); }
inline void* make_new_array(Request& r) { return ::operator new[](r.size); }
inline void* make_new_nothrow(Request& r) { return ::operator new(r.size, std::nothrow); }
inline void* make_new_array_nothrow(Request& r) { return ::operator new[](r.size, std::nothrow); }
inline void* make_new_wide(Request& r) { return ::operator new(r.size, wide(r)); }
inline void* make_new_array_wide(Request& r) { return ::operator new[](r.size, wide(r)); }
inline void* make_new_wide_nothrow(Request& r) {
  return ::operator new(r.size, wide(r), std::nothrow);
}
inline void* make_new_array_wide_nothrow(Request& r) {
  return ::operator new[](r.size, wide(r), std::nothrow);
}

#define MAKER(name, ...) {#name, name, __VA_ARGS__}
constexpr Maker makers[] = {
    MAKER(make_malloc, sized, false),
    MAKER(make_calloc, sized, false),
    MAKER(make_calloc_items, sized, false),
    MAKER(make_realloc, sized, false),
    MAKER(make_reallocarray, sized, false),
    MAKER(make_grown, sized, false),
    MAKER(make_grown_array, sized, false),
    MAKER(make_shrunk, sized, false),
    MAKER(make_shrunk_a_little, sized, false),
    MAKER(make_shrunk_from_large, sized, false),
    MAKER(make_there_and_back, sized, false),
    MAKER(make_from_nothing, sized, false),
    MAKER(make_from_aligned, sized, false),
    MAKER(make_step_by_step, sized, false),
    MAKER(make_memalign, plain, true),
    MAKER(make_aligned_alloc, aligned, true),
    MAKER(make_posix_memalign, plain, true),
    MAKER(make_valloc, plain, false),
    MAKER(make_pvalloc, plain, false),
    MAKER(make_strdup, plain, false),
    MAKER(make_strndup, plain, false),
    MAKER(make_asprintf, plain, false),
    MAKER(make_getline, plain, false),
    MAKER(make_memstream, plain, false),
    MAKER(make_sscanf, plain, false),
    MAKER(make_wcsdup, plain, false),
    MAKER(make_realpath, plain, false),
    MAKER(make_getcwd, plain, false),
    MAKER(make_new, object, false),
    MAKER(make_new_array, array, false),
    MAKER(make_new_nothrow, object, false),
    MAKER(make_new_array_nothrow, array, false),
    MAKER(make_new_wide, wide_object, true),
    MAKER(make_new_array_wide, wide_array, true),
    MAKER(make_new_wide_nothrow, wide_object, true),
    MAKER(make_new_array_wide_nothrow, wide_array, true),
};
#undef MAKER
