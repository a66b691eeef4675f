// The sites in a second linker namespace with another C library, and the runtime in one. Arguments:
// library of the sites, runtime.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sites.h"
#include "watchdog.h"

typedef void* (*maker)(size_t);
typedef void (*dropper)(void*);

// Allocates alternately in both; each frees its own blocks.
static int use(void* handle, const char* make_name, const char* drop_name) {
  void *there[200], *here[200];
  int grouped = 0;
  maker make = (maker)dlsym(handle, make_name);
  dropper drop = (dropper)dlsym(handle, drop_name);
  if ((void*)make == (void*)left_make) abort();
  for (int i = 0; i < 200; ++i) {
    there[i] = memset(make(object_bytes), i, object_bytes);
    here[i] = memset(left_make(object_bytes), i, object_bytes);
    grouped += is_grouped(here[i]);
  }
  for (int i = 0; i < 200; ++i) {
    if (*(unsigned char*)there[i] != i || *(unsigned char*)here[i] != i) abort();
    drop(there[i]);
    release_block(here[i]);
  }
  return grouped;
}

static void* open_new(const char* path) {
  void* handle = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
  if (handle == NULL) puts(dlerror());
  return handle;
}

int main(int argc, char** argv) {
  int grouped = 0;
  (void)argc;
  watchdog(60);
  for (int i = 0; i < 4; ++i) {
    void* handle = open_new(argv[1]);
    if (handle == NULL) return 1;
    grouped += use(handle, "left_make", "release_block");
    dlclose(handle);
  }
  void* runtime = open_new(argv[2]);
  if (runtime == NULL) return 1;
  grouped += use(runtime, "malloc", "free");
  printf("%d grouped\n", grouped);
}
