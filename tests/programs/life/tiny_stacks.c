// Threads with the smallest possible stack, directly above a guard page, which allocate from their
// first steps on, small and large.
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sites.h"
#include "watchdog.h"

enum { threads = 16, rounds = 20, objects = 300 };

static void* run(void* unused) {
  void* kept[objects];
  size_t grouped = 0;
  (void)unused;
  for (int i = 0; i < objects; ++i) {
    kept[i] = i % 2 ? left_make(object_bytes) : near_make(object_bytes);
    grouped += (size_t)is_grouped(kept[i]);
    release_block(right_make(4096));
  }
  for (int i = 0; i < objects; ++i) free(kept[i]);
  return (void*)grouped;
}

int main(void) {
  pthread_t all[threads];
  pthread_attr_t attributes;
  size_t grouped = 0;
  watchdog(60);
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)) != 0) abort();
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < threads; ++i)
      if (pthread_create(&all[i], &attributes, run, NULL) != 0) abort();
    for (int i = 0; i < threads; ++i) {
      void* result;
      pthread_join(all[i], &result);
      grouped += (size_t)result;
    }
  }
  printf("%zu of %d grouped\n", grouped, threads * rounds * objects);
}
