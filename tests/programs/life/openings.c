// Three dlopen calls, each followed by objects of the library: one that fails after it has mapped a
// planned library; one whose constructor opens that library and allocates; one by a thread that
// allocates nothing more. Arguments: the library that fails, the one with the constructor, the
// planned one.
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "sites.h"
#include "watchdog.h"

typedef void* (*maker)(size_t);
typedef int (*counter)(void);
enum { objects = 50 };
static char** libraries;
static void* handle;
static sem_t opened, done;

static int use(void* library) {
  maker left = (maker)dlsym(library, "twin_left");
  int grouped = 0;
  for (int i = 0; i < objects; ++i) {
    void* p = left(object_bytes);
    grouped += is_grouped(p);
    free(p);
  }
  return grouped;
}

static void* open_and_wait(void* unused) {
  handle = dlopen(libraries[3], RTLD_NOW);
  sem_post(&opened);
  sem_wait(&done);
  return unused;
}

int main(int argc, char** argv) {
  pthread_t opener;
  (void)argc;
  watchdog(60);
  libraries = argv;
  int refused = 0;
  for (int i = 0; i < 3; ++i) refused += dlopen(argv[1], RTLD_NOW) == NULL;
  void* nesting = dlopen(argv[2], RTLD_NOW);
  int by_constructor = ((counter)dlsym(nesting, "grouped_by_constructor"))();
  dlclose(nesting);

  sem_init(&opened, 0, 0);
  sem_init(&done, 0, 0);
  pthread_create(&opener, NULL, open_and_wait, NULL);
  sem_wait(&opened);
  int of_another_thread = use(handle);
  sem_post(&done);
  pthread_join(opener, NULL);
  int afterwards = use(handle);
  dlopen(argv[3], RTLD_NOW);
  dlclose(handle);  // it stays loaded
  int after_close = use(handle);
  printf("%d refused; grouped: %d %d %d %d\n", refused, by_constructor, of_another_thread,
         afterwards, after_close);
}
