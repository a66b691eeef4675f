// A library to preload: a dlsym that does not find one name, LACKING, and reports that as the real
// one does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

void* dlsym(void* restrict handle, const char* restrict name) {
  static void* (*real)(void*, const char*);
  if (real == NULL) real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  return real(handle, strcmp(name, LACKING) == 0 ? "there is no such symbol" : name);
}
