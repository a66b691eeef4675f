// mimalloc's own functions on blocks of malloc and of mimalloc: see own_functions.h. A version
// lacks some of them.
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

// clang-format off
#define OWN_FUNCTIONS(X) \
  X(void *, mi_realloc, (void *p, size_t n), (p, n)) \
  X(void *, mi_reallocf, (void *p, size_t n), (p, n)) \
  X(void *, reallocf, (void *p, size_t n), (p, n)) \
  X(void *, mi_new_realloc, (void *p, size_t n), (p, n)) \
  X(void *, mi_urealloc, (void *p, size_t n, size_t *before, size_t *after), (p, n, before, after)) \
  X(void *, mi_reallocn, (void *p, size_t count, size_t n), (p, count, n)) \
  X(void *, mi_reallocarray, (void *p, size_t count, size_t n), (p, count, n)) \
  X(void *, mi_new_reallocn, (void *p, size_t count, size_t n), (p, count, n)) \
  X(void *, mi_realloc_aligned, (void *p, size_t n, size_t to), (p, n, to)) \
  X(void *, mi_realloc_aligned_at, (void *p, size_t n, size_t to, size_t offset), (p, n, to, offset)) \
  X(void *, mi_rezalloc, (void *p, size_t n), (p, n)) \
  X(void *, mi_rezalloc_aligned, (void *p, size_t n, size_t to), (p, n, to)) \
  X(void *, mi_rezalloc_aligned_at, (void *p, size_t n, size_t to, size_t offset), (p, n, to, offset)) \
  X(void *, mi_recalloc, (void *p, size_t count, size_t n), (p, count, n)) \
  X(void *, mi_recalloc_aligned, (void *p, size_t count, size_t n, size_t to), (p, count, n, to)) \
  X(void *, mi_aligned_recalloc, (void *p, size_t count, size_t n, size_t to), (p, count, n, to)) \
  X(void *, mi_recalloc_aligned_at, (void *p, size_t count, size_t n, size_t to, size_t offset), \
    (p, count, n, to, offset)) \
  X(void *, mi_aligned_offset_recalloc, (void *p, size_t count, size_t n, size_t to, size_t offset), \
    (p, count, n, to, offset)) \
  X(void *, mi_heap_realloc, (void *heap, void *p, size_t n), (heap, p, n)) \
  X(void *, mi_theap_realloc, (void *heap, void *p, size_t n), (heap, p, n)) \
  X(void *, mi_heap_reallocf, (void *heap, void *p, size_t n), (heap, p, n)) \
  X(void *, mi_heap_reallocn, (void *heap, void *p, size_t count, size_t n), (heap, p, count, n)) \
  X(void *, mi_heap_realloc_aligned, (void *heap, void *p, size_t n, size_t to), (heap, p, n, to)) \
  X(void *, mi_heap_realloc_aligned_at, (void *heap, void *p, size_t n, size_t to, size_t offset), \
    (heap, p, n, to, offset)) \
  X(void *, mi_heap_rezalloc, (void *heap, void *p, size_t n), (heap, p, n)) \
  X(void *, mi_heap_rezalloc_aligned, (void *heap, void *p, size_t n, size_t to), (heap, p, n, to)) \
  X(void *, mi_heap_rezalloc_aligned_at, (void *heap, void *p, size_t n, size_t to, size_t offset), \
    (heap, p, n, to, offset)) \
  X(void *, mi_heap_recalloc, (void *heap, void *p, size_t count, size_t n), (heap, p, count, n)) \
  X(void *, mi_heap_recalloc_aligned, (void *heap, void *p, size_t count, size_t n, size_t to), \
    (heap, p, count, n, to)) \
  X(void *, mi_heap_recalloc_aligned_at, \
    (void *heap, void *p, size_t count, size_t n, size_t to, size_t offset), \
    (heap, p, count, n, to, offset)) \
  X(void, mi_free, (void *p), (p)) \
  X(void, mi_cfree, (void *p), (p)) \
  X(void, mi_free_small, (void *p), (p)) \
  X(void, mi_free_small_nonnull, (void *p), (p)) \
  X(void, vfree, (void *p), (p)) \
  X(void, __libc_cfree, (void *p), (p)) \
  X(void, mi_free_size, (void *p, size_t n), (p, n)) \
  X(void, mi_free_aligned, (void *p, size_t to), (p, to)) \
  X(void, mi_free_size_aligned, (void *p, size_t n, size_t to), (p, n, to)) \
  X(void, mi_ufree, (void *p, size_t *freed), (p, freed)) \
  X(size_t, mi_usable_size, (const void *p), (p)) \
  X(size_t, mi_malloc_size, (const void *p), (p)) \
  X(size_t, mi_malloc_usable_size, (const void *p), (p)) \
  X(size_t, malloc_size, (const void *p), (p)) \
  X(bool, mi_check_owned, (const void *p), (p)) \
  X(bool, mi_is_in_heap_region, (const void *p), (p)) \
  X(bool, mi_any_heap_contains, (const void *p), (p)) \
  X(bool, mi_heap_check_owned, (void *heap, const void *p), (heap, p)) \
  X(bool, mi_heap_contains_block, (void *heap, const void *p), (heap, p)) \
  X(bool, mi_heap_contains, (void *heap, const void *p), (heap, p)) \
  X(void *, mi_heap_of, (const void *p), (p)) \
  X(bool, mi_unsafe_heap_page_is_under_utilized, (void *heap, void *p, size_t share), \
    (heap, p, share)) \
  X(void *, mi_expand, (void *p, size_t n), (p, n)) \
  X(void *, mi__expand, (void *p, size_t n), (p, n)) \
  X(int, mi_reallocarr, (void *at, size_t count, size_t n), (at, count, n)) \
  X(int, reallocarr, (void *at, size_t count, size_t n), (at, count, n)) \
  X(void *, mi_malloc, (size_t n), (n)) \
  X(void *, mi_zalloc, (size_t n), (n)) \
  X(void *, mi_heap_get_default, (void), ()) \
  X(void *, mi_heap_new, (void), ())
// clang-format on
#include "own_functions.h"

#ifndef LIBRARY

enum { ALIGNMENT = 256, SHIFT = 64 };

static struct functions own;
static void* heap;
static size_t before, after;

static void* by_mi_malloc(size_t size) { return fill(own.mi_malloc(size), size); }
static void* by_mi_zalloc(size_t size) { return fill(own.mi_zalloc(size), size); }
__attribute__((noinline)) static void* by_calloc(size_t size) {
  return fill(calloc(size, 1), size);
}

// --- freeing ---

#define RELEASER(name, ...) \
  static void by_##name(void* p, size_t n) { own.name(__VA_ARGS__); }
RELEASER(mi_free, p)
RELEASER(mi_cfree, p)
RELEASER(mi_free_small, p)
RELEASER(mi_free_small_nonnull, p)
RELEASER(vfree, p)
RELEASER(__libc_cfree, p)
RELEASER(mi_free_size, p, n)
RELEASER(mi_free_aligned, p, 8)
RELEASER(mi_free_size_aligned, p, n, 8)
static void by_mi_ufree(void* p, size_t n) {
  size_t freed = 0;
  own.mi_ufree(p, &freed);
  EXPECT(freed >= n);
}

static void releasing(maker make) {
#define TRY(name) \
  if (own.name) churn(make, by_##name)
  TRY(mi_free);
  TRY(mi_cfree);
  TRY(mi_free_small);
  TRY(mi_free_small_nonnull);
  TRY(vfree);
  TRY(__libc_cfree);
  TRY(mi_free_size);
  TRY(mi_free_aligned);
  TRY(mi_free_size_aligned);
  TRY(mi_ufree);
}

// --- asking ---

static void asking(maker make, size_t size) {
  void* p = make(size);
  const size_t real = malloc_usable_size(p);
  EXPECT(own.mi_usable_size(p) == real && real >= size);
  EXPECT(own.mi_malloc_size == NULL || own.mi_malloc_size(p) == real);
  EXPECT(own.mi_malloc_usable_size == NULL || own.mi_malloc_usable_size(p) == real);
  EXPECT(own.malloc_size == NULL || own.malloc_size(p) == real);
  EXPECT(own.mi_check_owned == NULL || own.mi_check_owned(p));
  EXPECT(own.mi_is_in_heap_region(p));
  EXPECT(own.mi_any_heap_contains == NULL || own.mi_any_heap_contains(p));
  if (own.mi_heap_get_default != NULL) {
    EXPECT(own.mi_heap_check_owned == NULL || own.mi_heap_check_owned(heap, p));
    EXPECT(own.mi_heap_contains_block == NULL || own.mi_heap_contains_block(heap, p));
    EXPECT(own.mi_heap_contains == NULL || own.mi_heap_contains(heap, p));
    EXPECT(own.mi_heap_of == NULL || own.mi_heap_of(p) == heap);
  }
  if (own.mi_unsafe_heap_page_is_under_utilized != NULL)
    own.mi_unsafe_heap_page_is_under_utilized(heap, p, 1);
  EXPECT(own.mi_expand(p, real) == p);
  EXPECT(own.mi_expand(p, 9 * size + 4096) == NULL);
  if (own.mi__expand != NULL) {
    errno = 0;
    EXPECT(own.mi__expand(p, real) == p);
    EXPECT(own.mi__expand(p, 9 * size + 4096) == NULL && errno == ENOMEM);
  }
  EXPECT(holds(p, size, size));
  own.mi_free(p);
}

// --- resizing ---

// Those without an offset keep the one that the block has by chance.
enum { PLAIN = 0, ZEROED = 1, ALIGNED = 2 };
struct resizer {
  const char* name;
  bool exists;
  void* (*resize)(void*, size_t);
  int kind;
};
#define RESIZER(name, ...) \
  static void* by_##name(void* p, size_t n) { return own.name(__VA_ARGS__); }
RESIZER(mi_realloc, p, n)
RESIZER(mi_reallocf, p, n)
RESIZER(reallocf, p, n)
RESIZER(mi_new_realloc, p, n)
RESIZER(mi_urealloc, p, n, &before, &after)
RESIZER(mi_reallocn, p, 1, n)
RESIZER(mi_reallocarray, p, n, 1)
RESIZER(mi_new_reallocn, p, n, 1)
RESIZER(mi_realloc_aligned, p, n, ALIGNMENT)
RESIZER(mi_realloc_aligned_at, p, n, ALIGNMENT, 0)
RESIZER(mi_rezalloc, p, n)
RESIZER(mi_rezalloc_aligned, p, n, ALIGNMENT)
RESIZER(mi_rezalloc_aligned_at, p, n, ALIGNMENT, 0)
RESIZER(mi_recalloc, p, 1, n)
RESIZER(mi_recalloc_aligned, p, n, 1, ALIGNMENT)
RESIZER(mi_aligned_recalloc, p, n, 1, ALIGNMENT)
RESIZER(mi_recalloc_aligned_at, p, n, 1, ALIGNMENT, 0)
RESIZER(mi_aligned_offset_recalloc, p, n, 1, ALIGNMENT, 0)
RESIZER(mi_heap_realloc, heap, p, n)
RESIZER(mi_theap_realloc, heap, p, n)
RESIZER(mi_heap_reallocf, heap, p, n)
RESIZER(mi_heap_reallocn, heap, p, 1, n)
RESIZER(mi_heap_realloc_aligned, heap, p, n, ALIGNMENT)
RESIZER(mi_heap_realloc_aligned_at, heap, p, n, ALIGNMENT, 0)
RESIZER(mi_heap_rezalloc, heap, p, n)
RESIZER(mi_heap_rezalloc_aligned, heap, p, n, ALIGNMENT)
RESIZER(mi_heap_rezalloc_aligned_at, heap, p, n, ALIGNMENT, 0)
RESIZER(mi_heap_recalloc, heap, p, 1, n)
RESIZER(mi_heap_recalloc_aligned, heap, p, n, 1, ALIGNMENT)
RESIZER(mi_heap_recalloc_aligned_at, heap, p, n, 1, ALIGNMENT, 0)
static void* by_mi_reallocarr(void* p, size_t n) {
  return own.mi_reallocarr(&p, n, 1) == 0 ? p : NULL;
}
static void* by_reallocarr(void* p, size_t n) { return own.reallocarr(&p, n, 1) == 0 ? p : NULL; }

static void resize(const struct resizer* one, maker make, size_t size) {
  void* p = one->resize(make(size), 5 * size);
  bool fine = p != NULL && holds(p, size, size) && own.mi_usable_size(p) >= 5 * size;
  if ((one->kind & ZEROED) != 0) fine &= is_zero(p, size, 5 * size);
  if ((one->kind & ALIGNED) != 0) fine &= is_aligned(p, ALIGNMENT);
  p = one->resize(p, (size + 3) / 4);
  fine &= p != NULL && holds(p, size, (size + 3) / 4);
  own.mi_free(p);
  p = make(size);
  p = one->resize(p, size);
  fine &= p != NULL && holds(p, size, size);
  free(p);
  // A byte more may fit where the block is.
  p = one->resize(make(size), size + 1);
  fine &= holds(p, size, size);
  if ((one->kind & ZEROED) != 0) fine &= is_zero(p, size, size + 1);
  own.mi_free(p);
  if (!fine) ++failures, printf("%s of %zu\n", one->name, size);
}

#define ROW(name, kind) {#name, own.name != NULL, by_##name, kind}
static void resizing(maker make, maker make_zeroed, size_t size) {
  const struct resizer resizers[] = {
      ROW(mi_realloc, PLAIN),
      ROW(mi_reallocf, PLAIN),
      ROW(reallocf, PLAIN),
      ROW(mi_new_realloc, PLAIN),
      ROW(mi_urealloc, PLAIN),
      ROW(mi_reallocn, PLAIN),
      ROW(mi_reallocarray, PLAIN),
      ROW(mi_new_reallocn, PLAIN),
      ROW(mi_reallocarr, PLAIN),
      ROW(reallocarr, PLAIN),
      ROW(mi_realloc_aligned, PLAIN),
      ROW(mi_realloc_aligned_at, ALIGNED),
      ROW(mi_rezalloc, ZEROED),
      ROW(mi_rezalloc_aligned, ZEROED),
      ROW(mi_rezalloc_aligned_at, ZEROED | ALIGNED),
      ROW(mi_recalloc, ZEROED),
      ROW(mi_recalloc_aligned, ZEROED),
      ROW(mi_aligned_recalloc, ZEROED),
      ROW(mi_recalloc_aligned_at, ZEROED | ALIGNED),
      ROW(mi_aligned_offset_recalloc, ZEROED | ALIGNED),
      ROW(mi_heap_realloc, PLAIN),
      ROW(mi_heap_reallocf, PLAIN),
      ROW(mi_heap_reallocn, PLAIN),
      ROW(mi_heap_realloc_aligned, PLAIN),
      ROW(mi_heap_realloc_aligned_at, ALIGNED),
      ROW(mi_heap_rezalloc, ZEROED),
      ROW(mi_heap_rezalloc_aligned, ZEROED),
      ROW(mi_heap_rezalloc_aligned_at, ZEROED | ALIGNED),
      ROW(mi_heap_recalloc, ZEROED),
      ROW(mi_heap_recalloc_aligned, ZEROED),
      ROW(mi_heap_recalloc_aligned_at, ZEROED | ALIGNED),
  };
  for (size_t at = 0; at < sizeof resizers / sizeof resizers[0]; ++at)
    if (resizers[at].exists)
      resize(&resizers[at], (resizers[at].kind & ZEROED) != 0 ? make_zeroed : make, size);
}

static void special_resizing(maker make) {
  if (own.mi_urealloc != NULL) {
    void* p = make(100);
    const size_t real = own.mi_usable_size(p);
    p = own.mi_urealloc(p, 1000, &before, &after);
    EXPECT(before == real && after == own.mi_usable_size(p));
    own.mi_free(p);
  }
  void* p = own.mi_realloc_aligned_at(make(100), 1000, ALIGNMENT, SHIFT);
  EXPECT(is_aligned((char*)p + SHIFT, ALIGNMENT) && holds(p, 100, 100));
  own.mi_free(p);
  p = make(100);
  const volatile size_t huge = SIZE_MAX / 4;
  EXPECT(own.mi_realloc(p, huge) == NULL);
  EXPECT(own.mi_reallocn(p, huge, 16) == NULL);
  EXPECT(own.mi_reallocarr == NULL || own.mi_reallocarr(&p, huge, 16) != 0);
  EXPECT(holds(p, 100, 100));
  EXPECT(own.mi_reallocf(p, huge) == NULL);  // which frees it
  if (own.mi_heap_new == NULL) return;
  void* const other = own.mi_heap_new();
  p = make(100);
  EXPECT(!own.mi_heap_check_owned(other, p));
  p = own.mi_heap_realloc(other, p, 1000);
  EXPECT(own.mi_heap_check_owned(other, p) && holds(p, 100, 100));
  own.mi_free(p);
}

static void* elsewhere(void* p) {
  own.mi_free(p);
  return NULL;
}

static void check(const struct functions* functions) {
  own = *functions;
  if (own.mi_heap_get_default != NULL) heap = own.mi_heap_get_default();
  static const maker makers[] = {by_malloc, by_mi_malloc}, zeroed[] = {by_calloc, by_mi_zalloc};
  for (int i = 0; i < 2; ++i) {
    for (size_t size = 8; size < 300000; size = size * 5 / 3) {
      asking(makers[i], size);
      resizing(makers[i], zeroed[i], size);
    }
    special_resizing(makers[i]);
    releasing(makers[i]);
    pthread_t thread;
    pthread_create(&thread, NULL, elsewhere, makers[i](40));
    pthread_join(thread, NULL);
  }
}

#endif
