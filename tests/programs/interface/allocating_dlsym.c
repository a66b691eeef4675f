// To be preloaded: a dlsym that allocates on every call, as that of older C libraries did for the
// text of its errors. It keeps its blocks; check_dlsym_blocks looks at them.
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

enum { most = 4096 };
static struct {
  unsigned char* p;
  size_t size;
} blocks[most];
static int count;

static void keep(void* p, size_t size) {
  if (p == NULL || count == most) return;  // refused: the C library would do without
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
}

void* dlsym(void* restrict handle, const char* restrict name) {
  static void* (*real)(void*, const char*);
  static int inside;
  if (real == NULL) {
    real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
#ifdef FREES_OTHERS
    free(__libc_malloc(24));  // a block that the library in front of us has never seen
#endif
  }
  if (inside++ == 0) allocate();
  void* found = real(handle, name);
  --inside;
  return found;
}

static int in_the_runtime(void* p) {
  Dl_info info;
  return dladdr(p, &info) != 0 && strstr(info.dli_fname, "libhalo") != NULL;
}

// How many of the blocks lie inside the runtime's own image, or -1: one is not as it was left.
int check_dlsym_blocks(void) {
  int inside = 0;
  for (int i = 0; i < count; ++i) {
    unsigned char* p = blocks[i].p;
    size_t size = blocks[i].size;
    const int ours = in_the_runtime(p);
    inside += ours;
    if (malloc_usable_size(p) < size) return -1;
    if (i % 3 == 1) p = realloc(p, 3 * size);
    if (i % 3 == 2) p = realloc(p, size = size / 2 + 1);
    for (size_t k = 0; k < size; ++k)
      if (p[k] != 100 + i % 100) return -1;
    if (ours && i % 3 == 0)
      __libc_free(p);
    else
      free(p);
  }
  count = 0;
  return inside;
}
