// One thread reads the list of modules and takes the program's lock in between, as a profiler or a
// crash handler may. Another has opened a library, or closed one that stays, and allocates under
// that lock. Argument: a library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sites.h"
#include "watchdog.h"

static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static volatile int looking;

static int look(struct dl_phdr_info* info, size_t size, void* data) {
  (void)info, (void)size, (void)data;
  looking = 1;
  usleep(100000);
  pthread_mutex_lock(&registry);
  pthread_mutex_unlock(&registry);
  return 1;
}

static void* walk(void* unused) {
  dl_iterate_phdr(look, NULL);
  return unused;
}

// The first operation under the lock runs while the other thread is inside dl_iterate_phdr.
static void* allocate_under_lock(void* to_close) {
  pthread_t walker;
  pthread_mutex_lock(&registry);
  looking = 0;
  pthread_create(&walker, NULL, walk, NULL);
  while (!looking) usleep(1000);
  if (to_close != NULL) dlclose(to_close);
  void* entry = malloc(5000);
  void* p = left_make(object_bytes);
  pthread_mutex_unlock(&registry);
  pthread_join(walker, NULL);
  free(entry);
  return p;
}

int main(int argc, char** argv) {
  (void)argc;
  watchdog(20);
  void* handle = dlopen(argv[1], RTLD_NOW);
  void* first = allocate_under_lock(NULL);
  if (dlopen(argv[1], RTLD_NOW) != handle) return 1;
  void* second = allocate_under_lock(handle);
  printf("%d grouped\n", is_grouped(first) + is_grouped(second));
}
