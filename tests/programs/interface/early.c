// Allocates and frees from the earliest moment on: before any library's constructor, in its own
// constructors, and in main.
//
//   early ACTION COUNT
//
// ACTION is what the process does with memory first. Main makes COUNT blocks, all at one site.
// Prints allocating_dlsym's check of its blocks if it is preloaded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <locale.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void* __libc_malloc(size_t);
extern void* __libc_realloc(void*, size_t);
extern void __libc_free(void*);

enum { size = 40, wide = 64, moments = 4 };
static char* blocks[moments];
static int moment;

static char* act(const char* action) {
  void* p = NULL;
  if (!strcmp(action, "malloc")) return malloc(size);
  if (!strcmp(action, "calloc")) return calloc(1, size);
  if (!strcmp(action, "realloc")) return realloc(NULL, size);
  if (!strcmp(action, "reallocarray")) return reallocarray(NULL, 1, size);
  if (!strcmp(action, "memalign")) return memalign(wide, size);
  if (!strcmp(action, "aligned_alloc")) return aligned_alloc(wide, size);
  if (!strcmp(action, "posix_memalign")) return posix_memalign(&p, wide, size) ? NULL : p;
  if (!strcmp(action, "valloc")) return valloc(size);
  if (!strcmp(action, "pvalloc")) return pvalloc(size);
  if (!strcmp(action, "strdup")) return strdup("nine and thirty characters, and a zero.");
  if (!strcmp(action, "free")) free(NULL);
  // Blocks of the next allocator before its first use through the runtime.
  if (!strcmp(action, "free of another's")) free(__libc_malloc(size));
  if (!strcmp(action, "realloc of another's")) return realloc(__libc_malloc(8), size);
  if (!strcmp(action, "reallocarray of another's")) return reallocarray(__libc_malloc(8), 1, size);
  if (!strcmp(action, "__libc_realloc of another's")) return __libc_realloc(__libc_malloc(8), size);
  if (!strcmp(action, "usable_size of another's")) {
    void* other = __libc_malloc(size);
    if (malloc_usable_size(other) < size) abort();
    return other;
  }
  if (!strcmp(action, "__libc_free")) __libc_free(__libc_malloc(size));
  if (!strcmp(action, "usable_size") && malloc_usable_size(NULL) != 0) abort();
  if (!strcmp(action, "newlocale")) freelocale(newlocale(LC_ALL_MASK, "C", NULL));
  if (!strcmp(action, "dlsym")) {
    if (dlsym(RTLD_DEFAULT, "there is no such symbol") != NULL) abort();
    if (dlsym(RTLD_NEXT, "nor is there this one") != NULL) abort();
    if (dlerror() == NULL) abort();
  }
  return malloc(size);
}

static void act_now(const char* action) {
  char* p = act(action);
  if (p == NULL) abort();
  memset(p, 'a' + moment, size);
  blocks[moment++] = p;
}

static void before_constructors(int argc, char** argv, char** envp) {
  if (argc > 1) act_now(argv[1]);
}
__attribute__((section(".preinit_array"), used)) static void (*first)(int, char**,
                                                                      char**) = before_constructors;
__attribute__((constructor(101))) static void early_constructor(int argc, char** argv) {
  if (argc > 1) act_now(argv[1]);
}
__attribute__((constructor)) static void constructor(int argc, char** argv) {
  if (argc > 1) act_now(argv[1]);
}

// One block each: freed, enlarged, kept and freed, reduced.
static void check_blocks(void) {
  for (int i = 0; i < moments; ++i) {
    if (malloc_usable_size(blocks[i]) < size) abort();
    if (i % 2) blocks[i] = realloc(blocks[i], i == 1 ? 9000 : 8);
    for (int k = 0; k < 8; ++k)
      if (blocks[i][k] != 'a' + i) abort();
    free(blocks[i]);
  }
}

int main(int argc, char** argv) {
  act_now(argv[1]);
  check_blocks();
  for (int i = 0; i < atoi(argv[2]); ++i) {
    volatile char* p = malloc(24);
    p[0] = p[23] = 1;
    free((void*)p);
  }
  int (*check)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "check_dlsym_blocks");
  printf("%d\n", check ? check() : 0);
}
