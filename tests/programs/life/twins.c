// Opens two libraries alternately, each after the other was unloaded. Arguments: the two, and
// rounds.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "watchdog.h"

typedef void* (*maker)(size_t);

// Returns the address of its code.
static void* use(const char* path, int left, int right) {
  void* handle = dlopen(path, RTLD_NOW);
  maker make_left = (maker)dlsym(handle, "twin_left");
  maker make_right = (maker)dlsym(handle, "twin_right");
  free(malloc(10));  // triggers the scan of modules
  for (int i = 0; i < left; ++i) free(make_left(24));
  for (int i = 0; i < right; ++i) free(make_right(24));
  dlclose(handle);
  return (void*)make_left;
}

int main(int argc, char** argv) {
  int rounds = atoi(argv[3]), same = 0;
  (void)argc;
  watchdog(60);
  for (int i = 0; i < rounds; ++i) {
    void* first = use(argv[1], 7, 11);
    void* second = use(argv[2], 13, 17);
    same += first == second;
  }
  printf("at the same place: %d\n", same);
}
