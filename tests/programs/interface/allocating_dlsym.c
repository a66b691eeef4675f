// A library to preload: a dlsym that allocates on every call, as in older C libraries for the text
// of errors. It keeps its blocks, and check_dlsym_blocks checks them. With FREES_OTHERS it also
// frees, on every call, blocks of the C library that were not allocated through the interposed
// functions.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BYTES
#define BYTES 40
#endif

extern void* __libc_malloc(size_t);
extern void __libc_free(void*);
extern void cfree(void*);
extern void free_sized(void*, size_t);
extern void free_aligned_sized(void*, size_t, size_t);

enum { most = 4096 };
static struct {
  unsigned char* p;
  size_t size;
} blocks[most];
static int count;

static void keep(void* p, size_t size) {
  if (p == NULL || count == most) return;  // refused: the C library would continue without
  if (malloc_usable_size(p) < size) abort();
  memset(p, 100 + count % 100, size);
  blocks[count].p = p;
  blocks[count++].size = size;
}

static void allocate(void) {
  unsigned char* zeroed = calloc(1, BYTES);
  for (int i = 0; zeroed != NULL && i < BYTES; ++i)
    if (zeroed[i] != 0) abort();
  keep(zeroed, BYTES);
  keep(malloc(BYTES), BYTES);
  keep(realloc(malloc(BYTES), 2 * BYTES), 2 * BYTES);
  keep(memalign(256, BYTES), BYTES);
  free(malloc(BYTES));
  free(NULL);
#ifdef FREES_OTHERS
  free(__libc_malloc(24));
  cfree(__libc_malloc(100));
  __libc_free(__libc_malloc(1000));
  void* other = __libc_malloc(24);
  void* moved = realloc(other, 48);  // may be refused
  free(moved == NULL ? other : moved);
#endif
}

void* dlsym(void* restrict handle, const char* restrict name) {
  static void* (*real)(void*, const char*);
  static int inside;
  if (real == NULL) real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  if (inside++ == 0) allocate();
  void* found = real(handle, name);
  --inside;
  return found;
}

static int in_the_runtime(void* p) {
  Dl_info info;
  return dladdr(p, &info) != 0 && strstr(info.dli_fname, "libhalo") != NULL;
}

// All functions that free; those past the first accept memory of the runtime only.
static void drop(void* p, int way, size_t size) {
  switch (way % 5) {
    case 1:
      return __libc_free(p);
    case 2:
      return cfree(p);
    case 3:
      return free_sized(p, size);
    case 4:
      return free_aligned_sized(p, 16, size);
    default:
      return free(p);
  }
}

// The number of blocks inside the runtime's own image, or -1: one was changed.
int check_dlsym_blocks(void) {
  int inside = 0;
  for (int i = 0; i < count; ++i) {
    unsigned char* p = blocks[i].p;
    size_t size = blocks[i].size;
    const int ours = in_the_runtime(p);
    inside += ours;
    if (malloc_usable_size(p) < size) return -1;
    if (i % 4 == 1) p = realloc(p, 3 * size);
    if (i % 4 == 2) p = realloc(p, size = size / 2 + 1);
    if (i % 4 == 3) p = reallocarray(p, 2, size);
    for (size_t k = 0; k < size; ++k)
      if (p[k] != 100 + i % 100) return -1;
    drop(p, ours && i % 4 == 0 ? i / 4 : 0, size);
  }
  count = 0;
  return inside;
}
