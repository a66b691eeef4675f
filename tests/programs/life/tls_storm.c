// Threads with stacks of different sizes open a library with large thread-local memory, use it and
// end; the loader allocates and frees its blocks between the program's. Arguments: library, rounds.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "sites.h"
#include "watchdog.h"

enum { threads = 8 };
static const char* library;
static int grouped;

static void* run(void* number) {
  int mark = (int)(size_t)number, good = 0;
  void* kept[50];
  for (int i = 0; i < 50; ++i) kept[i] = left_make(object_bytes);
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return NULL;
  int (*touch)(int) = (int (*)(int))dlsym(handle, "heavy_touch");
  if (touch(mark) != 2 * mark || touch(mark + 1) != 2 * mark + 2) abort();
  for (int i = 0; i < 50; ++i) {
    good += is_grouped(kept[i]);
    free(kept[i]);
  }
  if (mark % 2) dlclose(handle);
  __atomic_fetch_add(&grouped, good, __ATOMIC_RELAXED);
  return handle;
}

int main(int argc, char** argv) {
  int rounds = atoi(argv[2]), failed = 0;
  (void)argc;
  library = argv[1];
  watchdog(200);
  for (int round = 0; round < rounds; ++round) {
    pthread_t all[threads];
    for (size_t i = 0; i < threads; ++i) {
      pthread_attr_t attributes;
      pthread_attr_init(&attributes);
      pthread_attr_setstacksize(&attributes, (size_t)(64 + 64 * ((i + round) % 5)) << 10);
      if (pthread_create(&all[i], &attributes, run, (void*)i) != 0) abort();
      pthread_attr_destroy(&attributes);
    }
    for (int i = 0; i < threads; ++i) {
      void* result;
      pthread_join(all[i], &result);
      failed += result == NULL;
      if (result != NULL && i % 2 == 0) dlclose(result);
    }
  }
  printf("%d failed, %d grouped\n", failed, grouped);
}
