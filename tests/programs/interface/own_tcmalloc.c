// The own functions of gperftools' tcmalloc on blocks of malloc and of tcmalloc: see
// own_functions.h.
#include <stddef.h>

// clang-format off
#define OWN_FUNCTIONS(X) \
  X(void, tc_free, (void *p), (p)) \
  X(void, tc_cfree, (void *p), (p)) \
  X(void, tc_free_sized, (void *p, size_t n), (p, n)) \
  X(void, tc_delete, (void *p), (p)) \
  X(void, tc_delete_sized, (void *p, size_t n), (p, n)) \
  X(void, tc_delete_nothrow, (void *p, const void *tag), (p, tag)) \
  X(void, tc_delete_aligned, (void *p, size_t to), (p, to)) \
  X(void, tc_delete_sized_aligned, (void *p, size_t n, size_t to), (p, n, to)) \
  X(void, tc_delete_aligned_nothrow, (void *p, size_t to, const void *tag), (p, to, tag)) \
  X(void, tc_deletearray, (void *p), (p)) \
  X(void, tc_deletearray_sized, (void *p, size_t n), (p, n)) \
  X(void, tc_deletearray_nothrow, (void *p, const void *tag), (p, tag)) \
  X(void, tc_deletearray_aligned, (void *p, size_t to), (p, to)) \
  X(void, tc_deletearray_sized_aligned, (void *p, size_t n, size_t to), (p, n, to)) \
  X(void, tc_deletearray_aligned_nothrow, (void *p, size_t to, const void *tag), (p, to, tag)) \
  X(void, __libc_cfree, (void *p), (p)) \
  X(void *, tc_malloc, (size_t n), (n)) \
  X(void *, tc_realloc, (void *p, size_t n), (p, n)) \
  X(size_t, tc_malloc_size, (void *p), (p)) \
  X(size_t, malloc_size, (void *p), (p)) \
  X(size_t, MallocExtension_GetAllocatedSize, (const void *p), (p)) \
  X(int, MallocExtension_GetOwnership, (const void *p), (p)) \
  X(int, MallocExtension_VerifyMallocMemory, (const void *p), (p)) \
  X(int, MallocExtension_VerifyNewMemory, (const void *p), (p)) \
  X(int, MallocExtension_VerifyArrayNewMemory, (const void *p), (p)) \
  X(void *, _ZN15MallocExtension8instanceEv, (void), ())
// clang-format on
#include "own_functions.h"

#ifndef LIBRARY

enum { OWNED = 1, NOT_OWNED = 2 };
// Where the class MallocExtension has GetAllocatedSize and GetOwnership among its virtual
// functions.
enum { GET_ALLOCATED_SIZE = 22, GET_OWNERSHIP = 23 };

static struct functions own;
static const char tag;

static void* by_tc_malloc(size_t size) { return fill(own.tc_malloc(size), size); }

#define RELEASER(name, ...) \
  static void by_##name(void* p, size_t n) { own.name(__VA_ARGS__); }
RELEASER(tc_free, p)
RELEASER(tc_cfree, p)
RELEASER(__libc_cfree, p)
RELEASER(tc_free_sized, p, n)
RELEASER(tc_delete, p)
RELEASER(tc_delete_sized, p, n)
RELEASER(tc_delete_nothrow, p, &tag)
RELEASER(tc_delete_aligned, p, 8)
RELEASER(tc_delete_sized_aligned, p, n, 8)
RELEASER(tc_delete_aligned_nothrow, p, 8, &tag)
RELEASER(tc_deletearray, p)
RELEASER(tc_deletearray_sized, p, n)
RELEASER(tc_deletearray_nothrow, p, &tag)
RELEASER(tc_deletearray_aligned, p, 8)
RELEASER(tc_deletearray_sized_aligned, p, n, 8)
RELEASER(tc_deletearray_aligned_nothrow, p, 8, &tag)

static void releasing(maker make) {
#define TRY(name) \
  if (own.name) churn(make, by_##name)
  TRY(tc_free);
  TRY(tc_cfree);
  TRY(__libc_cfree);
  TRY(tc_free_sized);
  TRY(tc_delete);
  TRY(tc_delete_sized);
  TRY(tc_delete_nothrow);
  TRY(tc_delete_aligned);
  TRY(tc_delete_sized_aligned);
  TRY(tc_delete_aligned_nothrow);
  TRY(tc_deletearray);
  TRY(tc_deletearray_sized);
  TRY(tc_deletearray_nothrow);
  TRY(tc_deletearray_aligned);
  TRY(tc_deletearray_sized_aligned);
  TRY(tc_deletearray_aligned_nothrow);
}

static void asking(maker make, size_t size) {
  void* p = make(size);
  const size_t real = malloc_usable_size(p);
  EXPECT(real >= size && own.tc_malloc_size(p) == real);
  EXPECT(own.malloc_size == NULL || own.malloc_size(p) == real);
  EXPECT(own.MallocExtension_GetAllocatedSize(p) == real);
  EXPECT(own.MallocExtension_GetOwnership(p) == OWNED);
  EXPECT(own.MallocExtension_VerifyMallocMemory(p));
  EXPECT(own.MallocExtension_VerifyNewMemory(p));
  EXPECT(own.MallocExtension_VerifyArrayNewMemory(p));
  void*** const object = own._ZN15MallocExtension8instanceEv();
  EXPECT(((size_t (*)(void*, const void*))(*object)[GET_ALLOCATED_SIZE])(object, p) == real);
  int (*const ownership)(void*, const void*) = (*object)[GET_OWNERSHIP];
  EXPECT(ownership(object, p) == OWNED);
  static char none[64];
  EXPECT(ownership(object, none) == NOT_OWNED);
  EXPECT(own.MallocExtension_GetOwnership(none) == NOT_OWNED);
  own.tc_free(p);
}

static void resizing(maker make, size_t size) {
  void* p = own.tc_realloc(make(size), 5 * size);
  EXPECT(holds(p, size, size) && own.tc_malloc_size(p) >= 5 * size);
  p = own.tc_realloc(p, (size + 3) / 4);
  EXPECT(holds(p, size, (size + 3) / 4));
  free(p);
  p = own.tc_realloc(make(size), size);
  EXPECT(holds(p, size, size));
  EXPECT(own.tc_realloc(p, 0) == NULL);  // which frees it
}

static void* elsewhere(void* p) {
  own.tc_free(p);
  return NULL;
}

static void check(const struct functions* functions) {
  own = *functions;
  static const maker makers[] = {by_malloc, by_tc_malloc};
  for (int i = 0; i < 2; ++i) {
    for (size_t size = 8; size < 300000; size = size * 3 / 2) {
      asking(makers[i], size);
      resizing(makers[i], size);
    }
    releasing(makers[i]);
    pthread_t thread;
    pthread_create(&thread, NULL, elsewhere, makers[i](40));
    pthread_join(thread, NULL);
  }
}

#endif
