// A next allocator to preload, of the common kind that calls the C library's own names.
#include <errno.h>
#include <stddef.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
extern void __libc_free(void*);

void* malloc(size_t size) { return __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return __libc_calloc(count, size); }
void* realloc(void* p, size_t size) { return __libc_realloc(p, size); }
void* memalign(size_t alignment, size_t size) { return __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) { return __libc_memalign(alignment, size); }
void free(void* p) { __libc_free(p); }

int posix_memalign(void** into, size_t alignment, size_t size) {
  void* p = __libc_memalign(alignment, size);
  if (p == NULL) return ENOMEM;
  *into = p;
  return 0;
}
