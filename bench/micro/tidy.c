// The cost of Tidy's functions in time and memory, one case at a time; bench/tidy.py runs them all.
//
// tidy same: nanoseconds of a pair of tidy_alloc and tidy_free in one cell.
//
// tidy cells: the same in one of 4096 cells at random, beside a million objects.
//
// tidy threads N: pairs by N threads in 4096 cells, beside a million objects, per microsecond.
//
// tidy memory KEYS BYTES FREES: live and resident bytes of a million objects, and again after half
// of them were replaced. KEYS: uniform, zipf, equal, distinct or drifting. BYTES: of an object; 0:
// 16 to 512 at random. FREES: per cent of the allocations that were followed by the replacement of
// an earlier object.
//
// tidy drift: the maximum of resident bytes in the second and in the last quarter of 10^8
// operations.
#include <halo/tidy.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/rng.h"
#include "micro/clock.h"

enum { kBytes = 32, kCells = 4096, kObjects = 1000000, kPairs = 20000000, kThreadPairs = 5000000 };

static void* objects[kObjects];
static uint32_t sizes[kObjects];

static void* allocate(tidy_ctx_t* ctx, size_t size, unsigned hint) {
  void* const p = tidy_alloc(ctx, size, &hint);
  if (p == NULL) {
    fputs("out of memory\n", stderr);
    exit(1);
  }
  return p;
}

static void pair(tidy_ctx_t* ctx, unsigned hint) {
  void* const p = allocate(ctx, kBytes, hint);
  __asm__ volatile("" ::"r"(p) : "memory");
  tidy_free(p);
}

static void run_same(tidy_ctx_t* ctx) {
  allocate(ctx, kBytes, 1);
  const double began = wall_ns() / 1e9;
  for (long i = 0; i < kPairs; ++i) pair(ctx, 1);
  printf("%.2f\n", (wall_ns() / 1e9 - began) / kPairs * 1e9);
}

static void fill(tidy_ctx_t* ctx) {
  Rng rng = {1};
  for (long i = 0; i < kObjects; ++i) allocate(ctx, kBytes, rng_below(&rng, kCells));
}

static void run_cells(tidy_ctx_t* ctx) {
  Rng rng = {2};
  fill(ctx);
  const double began = wall_ns() / 1e9;
  for (long i = 0; i < kPairs; ++i) pair(ctx, rng_below(&rng, kCells));
  printf("%.2f\n", (wall_ns() / 1e9 - began) / kPairs * 1e9);
}

static void* work(void* ctx) {
  Rng rng = {(uint64_t)(uintptr_t)&rng};
  for (long i = 0; i < kThreadPairs; ++i) pair(ctx, rng_below(&rng, kCells));
  return NULL;
}

static void run_threads(tidy_ctx_t* ctx, int count) {
  pthread_t threads[64];
  fill(ctx);
  const double began = wall_ns() / 1e9;
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], NULL, work, ctx);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  printf("%.2f\n", kThreadPairs * (double)count / ((wall_ns() / 1e9 - began) * 1e6));
}

// Bytes of this process in memory.
static unsigned long resident(void) {
  unsigned long pages = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1) exit(1);
  fclose(file);
  return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

static unsigned next_key(const char* keys, Rng* rng, long i) {
  if (strcmp(keys, "uniform") == 0) return rng_below(rng, kCells);
  if (strcmp(keys, "equal") == 0) return 7;
  if (strcmp(keys, "distinct") == 0) return (unsigned)mix64((uint64_t)i);
  if (strcmp(keys, "drifting") == 0) return (unsigned)i + rng_below(rng, 10000);
  // Zipf: a key's probability is proportional to 1 / (key + 1).
  return (1u << rng_below(rng, 20)) + rng_below(rng, 1u << rng_below(rng, 20));
}

// What run_memory allocates. All objects are written, as a program's are.
typedef struct {
  tidy_ctx_t* ctx;
  const char* keys;
  uint32_t bytes;
  unsigned long live;
  Rng rng;
} Filler;

static void put(Filler* filler, long i) {
  Rng* const rng = &filler->rng;
  sizes[i] = filler->bytes != 0 ? filler->bytes : (16 + rng_below(rng, 497)) & ~7u;
  objects[i] = allocate(filler->ctx, sizes[i], next_key(filler->keys, rng, i));
  memset(objects[i], 1, sizes[i]);
  filler->live += sizes[i];
}

static void drop(Filler* filler, long i) {
  tidy_free(objects[i]);
  filler->live -= sizes[i];
  sizes[i] = 0;
}

static void run_memory(tidy_ctx_t* ctx, const char* keys, uint32_t bytes, uint32_t frees) {
  Filler filler = {ctx, keys, bytes, 0, {1}};
  memset(objects, 1, sizeof objects);
  memset(sizes, 1, sizeof sizes);
  const unsigned long before = resident();
  for (long i = 0; i < kObjects; ++i) {
    put(&filler, i);
    if (rng_below(&filler.rng, 100) >= frees) continue;
    const long old = rng_below(&filler.rng, (uint32_t)i + 1);
    drop(&filler, old);
    put(&filler, old);
  }
  printf("%lu %lu", filler.live, resident() - before);
  for (long i = 0; i < kObjects; ++i)
    if (rng_below(&filler.rng, 2) == 0) drop(&filler, i);
  for (long i = 0; i < kObjects; ++i)
    if (sizes[i] == 0) put(&filler, i);
  printf(" %lu %lu\n", filler.live, resident() - before);
}

static void run_drift(tidy_ctx_t* ctx) {
  const long live = 100000, operations = 100000000;
  Rng rng = {1};
  unsigned long peaks[4] = {0};
  for (long i = 0; i < operations / 2; ++i) {
    void** const place = &objects[i % live];
    if (i >= live) tidy_free(*place);
    const uint32_t size = 16 + 8 * rng_below(&rng, 8);
    *place = allocate(ctx, size, (unsigned)(i * 4) + rng_below(&rng, 100000));
    memset(*place, 1, size);
    const long quarter = i / (operations / 8);
    if (i % 10000 == 0 && resident() > peaks[quarter]) peaks[quarter] = resident();
  }
  printf("%lu %lu\n", peaks[1], peaks[3]);
}

static int usage(void) {
  fputs("usage: tidy same|cells|threads N|memory KEYS BYTES FREES|drift\n", stderr);
  return 2;
}

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  const char* const argument = argc > 2 ? argv[2] : "";
  tidy_settings_t settings = {0};
  tidy_ctx_t* const ctx = tidy_create(&settings);
  if (strcmp(name, "same") == 0) {
    run_same(ctx);
  } else if (strcmp(name, "cells") == 0) {
    run_cells(ctx);
  } else if (strcmp(name, "threads") == 0) {
    run_threads(ctx, atoi(argument));
  } else if (strcmp(name, "memory") == 0) {
    if (argc != 5) return usage();
    run_memory(ctx, argument, (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]));
  } else if (strcmp(name, "drift") == 0) {
    run_drift(ctx);
  } else {
    return usage();
  }
  return 0;
}
