/* Tidy: an allocator that places objects with similar hints near each other.
 *
 * A hint is a number, or up to four: a coordinate, a key, the number of an object's owner. Objects
 * whose hints are near each other share cache lines and pages, whenever they are allocated. Cells
 * adapt to the hints, so hints need no range and no scale. A wrong hint costs locality, never
 * correctness.
 *
 * After Miucin, "Data-driven spatial locality" (2018), section 3.4.4.
 *
 * Every function may be called by any thread, except where it says otherwise. None of them prints
 * or aborts; allocating and freeing never waits for another thread. Memory is aligned to the
 * largest power of two up to 16 that divides the size, as objects of that size need it; larger
 * objects as by malloc.
 *
 * Link with libhalo-tidy.so, and memory of Tidy may also be freed by free, realloc and delete.
 * Otherwise, with libhalo-tidy.a, only by tidy_free and tidy_realloc. If HALO_TIDY_OPTIONAL is
 * defined and libhalo-tidy.so is not there, tidy_alloc and tidy_malloc are malloc, and tidy_free is
 * free; no other functions may be used but tidy_create and tidy_destroy.
 */
#ifndef HALO_TIDY_H
#define HALO_TIDY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef HALO_TIDY_OPTIONAL
#define HALO_TIDY_FUNCTION __attribute__((weak))
#else
#define HALO_TIDY_FUNCTION __attribute__((visibility("default")))
#endif

#define TIDY_MAX_DIMENSIONS 4

/* NOLINTBEGIN(modernize-use-using): this is C. */

/* Flags of settings. */
enum {
  TIDY_THREAD_LOCAL = 1, /* each thread has cells of its own */
  TIDY_EXACT = 2 /* the thesis's grid: each hint has a cell of its own, cells do not adapt */
};

/* Zeroes are the defaults. */
typedef struct tidy_settings {
  unsigned dimensions;                 /* elements of a hint, 1 to 4; default 1 */
  unsigned sizes[TIDY_MAX_DIMENSIONS]; /* elements count modulo these; 0: not limited */
  size_t bucket_bytes;                 /* a power of two, 64 to 65536; default 4096 */
  unsigned flags;
} tidy_settings_t;

typedef struct tidy_ctx tidy_ctx_t;

/* A context for the objects of one structure. `settings` may be NULL. Returns NULL if a setting is
 * out of its range (errno EINVAL), or if memory is refused or 256 contexts exist (ENOMEM). Of hints
 * with three elements the low 21 bits of each count, with four the low 16. */
HALO_TIDY_FUNCTION tidy_ctx_t* tidy_create(const tidy_settings_t* settings);

/* Frees all objects of the context at once, and the context. No other thread may use either
 * meanwhile. NULL is allowed. */
HALO_TIDY_FUNCTION void tidy_destroy(tidy_ctx_t* ctx);

/* Memory for an object, near others with similar hints. `hint` has as many elements as the context
 * has dimensions; NULL: near other objects without a hint. Objects larger than a bucket come from
 * malloc; so do all if `ctx` is NULL. A size of 0 is a size of 1. Returns NULL if memory is refused
 * (errno ENOMEM). */
HALO_TIDY_FUNCTION void* tidy_alloc(tidy_ctx_t* ctx, size_t size, const unsigned* hint);

/* The same in a context of the process, with one number as hint. */
HALO_TIDY_FUNCTION void* tidy_malloc(size_t size, uint64_t hint);

/* Memory near `neighbour`, an object of the same context: in its bucket if there is room. Without a
 * hint if it is another context's, another allocator's or NULL. */
HALO_TIDY_FUNCTION void* tidy_near(tidy_ctx_t* ctx, size_t size, const void* neighbour);

/* The same as tidy_alloc, aligned: to a power of two. Returns NULL if it is none (errno EINVAL). */
HALO_TIDY_FUNCTION void* tidy_alloc_aligned(tidy_ctx_t* ctx, size_t alignment, size_t size,
                                            const unsigned* hint);

/* Zeroed memory. NULL if count times size overflows (errno ENOMEM). */
HALO_TIDY_FUNCTION void* tidy_calloc(tidy_ctx_t* ctx, size_t count, size_t size,
                                     const unsigned* hint);

/* `p` with `size` bytes: in place if its block has them and is not twice as large, else by
 * tidy_alloc. A NULL `p` is allowed. If memory is refused, `p` stays valid. */
HALO_TIDY_FUNCTION void* tidy_realloc(tidy_ctx_t* ctx, void* p, size_t size, const unsigned* hint);

/* Frees memory of Tidy, of any context; other memory by free. */
HALO_TIDY_FUNCTION void tidy_free(void* p);

/* The bytes that may be used at `p`; 0 for NULL. */
HALO_TIDY_FUNCTION size_t tidy_usable_size(const void* p);

/* Whether `p` lies in Tidy's memory: 1 or 0. */
HALO_TIDY_FUNCTION int tidy_owns(const void* p);

typedef struct tidy_statistics {
  uint64_t live_bytes;     /* of objects */
  uint64_t resident_bytes; /* of system pages that buckets may have touched */
  uint64_t buckets;
  uint64_t cells;
  uint64_t spilled;   /* objects that went to another cell, to bound free memory */
  uint64_t forwarded; /* objects that came from malloc */
} tidy_stats_t;

/* NOLINTEND(modernize-use-using) */

/* Adds up the context's memory. Cells that a thread is using at that moment are left out. */
HALO_TIDY_FUNCTION void tidy_stats(tidy_ctx_t* ctx, tidy_stats_t* stats);

#ifdef HALO_TIDY_OPTIONAL
/* In place of the functions if no library has them. */
static inline void* tidy_alloc_or_malloc(tidy_ctx_t* ctx, size_t size, const unsigned* hint) {
  return tidy_alloc ? tidy_alloc(ctx, size, hint) : malloc(size);
}
static inline void* tidy_malloc_or_malloc(size_t size, uint64_t hint) {
  return tidy_malloc ? tidy_malloc(size, hint) : malloc(size);
}
static inline void tidy_free_or_free(void* p) {
  if (tidy_free) {
    tidy_free(p);
  } else {
    free(p);
  }
}
static inline tidy_ctx_t* tidy_create_or_null(const tidy_settings_t* settings) {
  return tidy_create ? tidy_create(settings) : NULL;
}
static inline void tidy_destroy_or_ignore(tidy_ctx_t* ctx) {
  if (tidy_destroy) tidy_destroy(ctx);
}
#define tidy_alloc tidy_alloc_or_malloc
#define tidy_malloc tidy_malloc_or_malloc
#define tidy_free tidy_free_or_free
#define tidy_create tidy_create_or_null
#define tidy_destroy tidy_destroy_or_ignore
#endif

/* The number of the interval of that width with `v`: counted from the middle of the range, so
 * negative values are allowed. Values beyond the range have the first or the last number, NaN has
 * the very last one. */
static inline unsigned tidy_bin(double v, double width) {
  const double middle = 2147483648.0, at = v / width + middle;
  if (at != at) return UINT32_MAX;
  if (at < 0) return 0;
  if (at >= 4294967294.0) return UINT32_MAX - 1;
  return (unsigned)at;
}

/* Keys in the order of the values; all NaN have the last one. */
static inline unsigned tidy_f32_key(float v) {
  uint32_t bits;
  if (v != v) return UINT32_MAX;
  memcpy(&bits, &v, sizeof bits);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
static inline uint64_t tidy_f64_key(double v) {
  uint64_t bits;
  if (v != v) return UINT64_MAX;
  memcpy(&bits, &v, sizeof bits);
  return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

#ifdef __cplusplus
} /* extern "C" */

/* A hint for tidy_alloc that lasts until the end of the full expression. */
class tidy_grid2 {
 public:
  tidy_grid2(double x, double y, double width) : at_{tidy_bin(x, width), tidy_bin(y, width)} {}
  operator const unsigned*() const { return at_; }

 private:
  unsigned at_[2];
};
#else
#define tidy_grid2(x, y, width) \
  ((const unsigned[2]){tidy_bin((x), (width)), tidy_bin((y), (width))})
#endif

#endif
