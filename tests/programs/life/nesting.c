// A library whose constructor opens another, PLANNED, and allocates through it.
#include <dlfcn.h>
#include <stdlib.h>

#include "sites.h"

typedef void* (*maker)(size_t);
static int grouped;
static void* handle;

__attribute__((constructor)) static void open_planned(void) {
  handle = dlopen(PLANNED, RTLD_NOW);
  maker left = (maker)dlsym(handle, "twin_left");
  for (int i = 0; i < 50; ++i) {
    void* p = left(object_bytes);
    grouped += is_grouped(p);
    free(p);
  }
}

__attribute__((destructor)) static void close_planned(void) { dlclose(handle); }

int grouped_by_constructor(void) { return grouped; }
