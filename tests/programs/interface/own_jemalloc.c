// jemalloc's own functions on blocks of malloc and of jemalloc: see own_functions.h.
#include <stddef.h>

#define OWN_FUNCTIONS(X)                                                                         \
  X(void*, mallocx, (size_t size, int flags), (size, flags))                                     \
  X(void*, rallocx, (void* p, size_t size, int flags), (p, size, flags))                         \
  X(size_t, xallocx, (void* p, size_t size, size_t extra, int flags), (p, size, extra, flags))   \
  X(size_t, sallocx, (const void* p, int flags), (p, flags))                                     \
  X(void, dallocx, (void* p, int flags), (p, flags))                                             \
  X(void, sdallocx, (void* p, size_t size, int flags), (p, size, flags))                         \
  X(size_t, nallocx, (size_t size, int flags), (size, flags))                                    \
  X(int, mallctl, (const char* name, void* old, size_t* length, void* now, size_t bytes),        \
    (name, old, length, now, bytes))                                                             \
  X(int, mallctlnametomib, (const char* name, size_t* mib, size_t* length), (name, mib, length)) \
  X(int, mallctlbymib,                                                                           \
    (const size_t* mib, size_t words, void* old, size_t* length, void* now, size_t bytes),       \
    (mib, words, old, length, now, bytes))
#include "own_functions.h"

#ifndef LIBRARY

enum { ZERO = 0x40, ALIGN_256 = 8 };  // MALLOCX_ZERO, MALLOCX_LG_ALIGN(8)

static struct functions own;

static void* by_mallocx(size_t size) { return fill(own.mallocx(size, 0), size); }
static void release_sized(void* p, size_t size) { own.sdallocx(p, size, 0); }
static void release_unsized(void* p, size_t size) { own.dallocx(p, 0); }

static void sizes(maker make, size_t size) {
  void* p = make(size);
  EXPECT(own.sallocx(p, 0) >= size);
  EXPECT(own.sallocx(p, 0) == malloc_usable_size(p));
  EXPECT(own.nallocx(size, 0) >= size);
  EXPECT(own.xallocx(p, size, 0, 0) == own.sallocx(p, 0));
  own.xallocx(p, 2 * size, 0, ZERO);
  EXPECT(own.xallocx(p, 1, 0, 0) == own.sallocx(p, 0));
  EXPECT(holds(p, size, 1));
  own.dallocx(p, 0);
}

static void moves(maker make, size_t size) {
  void* p = own.rallocx(make(size), 5 * size, 0);
  EXPECT(holds(p, size, size) && own.sallocx(p, 0) >= 5 * size);
  p = own.rallocx(p, size / 4, 0);
  EXPECT(holds(p, size, size / 4));
  own.sdallocx(p, size / 4, 0);

  p = own.rallocx(make(size), size, ALIGN_256);
  EXPECT(holds(p, size, size) && is_aligned(p, 256));
  own.sdallocx(p, size, ALIGN_256);

  p = make(size);
  const size_t real = own.sallocx(p, 0);
  p = own.rallocx(p, 9 * size, ZERO);
  EXPECT(holds(p, size, size) && is_zero(p, real, 9 * size));
  free(realloc(p, 11 * size));
}

static int by_name(const char* name, void* old, size_t length, void* now, size_t bytes) {
  return own.mallctl(name, old, &length, now, bytes);
}
static int by_mib(const char* name, void* old, size_t length, void* now, size_t bytes) {
  size_t mib[4], words = 4;
  if (own.mallctlnametomib(name, mib, &words) != 0) return -1;
  return own.mallctlbymib(mib, words, old, &length, now, bytes);
}

// The questions of mallctl about blocks, also about blocks of both kinds at once.
static void questions(maker make, size_t size,
                      int (*ask)(const char*, void*, size_t, void*, size_t)) {
  struct {
    size_t free, count, bytes;
  } of[3];
  struct {
    void* slab;
    size_t free, count, bytes, all_free, all;
  } more;
  void* p = make(size);
  void* blocks[] = {p, own.mallocx(size, 0), make(size)};
  unsigned arena = 99;
  EXPECT(ask("arenas.lookup", &arena, sizeof arena, &p, sizeof p) == 0 && arena < 99);
  EXPECT(ask("arenas.lookup", &arena, sizeof arena - 1, &p, sizeof p) != 0);
  EXPECT(ask("arenas.lookup", &arena, sizeof arena, &p, sizeof p - 1) != 0);
  EXPECT(ask("experimental.utilization.query", &more, sizeof more, &p, sizeof p) == 0);
  EXPECT(more.count > more.free && more.bytes >= own.sallocx(p, 0));
  EXPECT(ask("experimental.utilization.query", &more, sizeof more - 1, &p, sizeof p) != 0);
  EXPECT(ask("experimental.utilization.batch_query", of, sizeof of, blocks, sizeof blocks) == 0);
  for (int i = 0; i < 3; ++i)
    EXPECT(of[i].count > of[i].free && of[i].bytes >= own.sallocx(blocks[i], 0));
  EXPECT(ask("experimental.utilization.batch_query", of, sizeof of, blocks, 8) != 0);
  EXPECT(holds(p, size, size));
  for (int i = 0; i < 3; ++i) own.dallocx(blocks[i], 0);
}

static void* elsewhere(void* p) {
  own.dallocx(p, 0);
  return NULL;
}

static void check(const struct functions* functions) {
  own = *functions;
  static const maker makers[] = {by_malloc, by_mallocx};
  for (int i = 0; i < 2; ++i) {
    for (size_t size = 8; size < 300000; size = size * 3 / 2) {
      sizes(makers[i], size);
      moves(makers[i], size);
      questions(makers[i], size, by_name);
      questions(makers[i], size, by_mib);
    }
    churn(makers[i], release_sized);
    churn(makers[i], release_unsized);
    pthread_t thread;
    pthread_create(&thread, NULL, elsewhere, makers[i](40));
    pthread_join(thread, NULL);
  }
}

#endif
