// One thread frees a large part of a group in random order; another continues to allocate in the
// same group. Prints the longest single call of the latter, in microseconds of its own processor
// time.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sites.h"
#include "watchdog.h"

enum { objects = 400000, window = 256 };
static void* kept[objects];
static atomic_int done;

static long microseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void* go_on(void* worst) {
  void* mine[window] = {0};
  long longest = 0;
  for (unsigned i = 0; !atomic_load(&done) || i < 10 * window; ++i) {
    const long before = microseconds();
    release_block(mine[i % window]);
    mine[i % window] = near_make(16 + i % 240);
    const long took = microseconds() - before;
    if (took > longest) longest = took;
  }
  *(long*)worst = longest;
  return NULL;
}

int main(void) {
  unsigned seed = 7;
  long worst = 0;
  pthread_t other;
  watchdog(120);
  for (int i = 0; i < objects; ++i) {
    seed = seed * 1664525 + 1013904223;
    kept[i] = near_make(16 + (seed >> 20) % 240);
  }
  for (int last = objects - 1; last > 0; --last) {
    seed = seed * 1664525 + 1013904223;
    const int at = (int)(seed % (unsigned)(last + 1));
    void* p = kept[last];
    kept[last] = kept[at];
    kept[at] = p;
  }
  if (pthread_create(&other, NULL, go_on, &worst) != 0) return 1;
  for (int i = 0; i < objects; ++i) release_block(kept[i]);
  atomic_store(&done, 1);
  pthread_join(other, NULL);
  printf("%ld\n", worst);
  return 0;
}
