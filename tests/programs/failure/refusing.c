// The next allocator: the C library's, until it is set to refuse.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void*, size_t);
int refuse_memory = 0;
static void* refused(void) {
  errno = ENOMEM;
  return NULL;
}
void* malloc(size_t n) { return refuse_memory ? refused() : __libc_malloc(n); }
void* calloc(size_t k, size_t n) { return refuse_memory ? refused() : __libc_calloc(k, n); }
void* realloc(void* p, size_t n) { return refuse_memory ? refused() : __libc_realloc(p, n); }
size_t malloc_usable_size(void* p) {
  static size_t (*real)(void*) = NULL;
  if (!real) real = (size_t (*)(void*))dlsym(RTLD_NEXT, "malloc_usable_size");
  return real(p);
}
