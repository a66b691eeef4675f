// The cost of Tidy's functions in time and memory, one case at a time; bench/tidy.py runs them all.
//
// tidy same: nanoseconds of a pair of tidy_alloc and tidy_free in one cell.
//
// tidy cells: the same in one of 4096 cells at random, beside a million objects.
//
// tidy threads N: pairs by N threads in 4096 cells, beside a million objects, per microsecond.
//
// tidy memory KEYS: live and resident bytes of a million objects of 16 to 512 bytes, and again
// after half of them were replaced. KEYS: uniform, zipf, equal, distinct or drifting.
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

// All objects are written, as a program's are.
static void run_memory(tidy_ctx_t* ctx, const char* keys) {
  Rng rng = {1};
  memset(objects, 1, sizeof objects);
  memset(sizes, 1, sizeof sizes);
  const unsigned long before = resident();
  unsigned long live = 0;
  for (long i = 0; i < kObjects; ++i) {
    sizes[i] = (16 + rng_below(&rng, 497)) & ~7u;
    objects[i] = allocate(ctx, sizes[i], next_key(keys, &rng, i));
    memset(objects[i], 1, sizes[i]);
    live += sizes[i];
  }
  printf("%lu %lu", live, resident() - before);
  for (long i = 0; i < kObjects; ++i) {
    if (rng_below(&rng, 2) != 0) continue;
    tidy_free(objects[i]);
    sizes[i] = 0;
  }
  for (long i = 0; i < kObjects; ++i) {
    if (sizes[i] != 0) continue;
    const uint32_t size = (16 + rng_below(&rng, 497)) & ~7u;
    objects[i] = allocate(ctx, size, next_key(keys, &rng, i));
    memset(objects[i], 1, size);
  }
  tidy_stats_t stats;
  tidy_stats(ctx, &stats);
  printf(" %lu %lu\n", (unsigned long)stats.live_bytes, resident() - before);
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
    run_memory(ctx, argument);
  } else if (strcmp(name, "drift") == 0) {
    run_drift(ctx);
  } else {
    fputs("usage: tidy same|cells|threads N|memory KEYS|drift\n", stderr);
    return 2;
  }
  return 0;
}
