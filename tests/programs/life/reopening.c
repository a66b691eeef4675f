// Two threads open and close libraries continuously, two others allocate and mark their objects.
// Arguments: two libraries of twin.c, and rounds.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sites.h"
#include "watchdog.h"

typedef void* (*maker)(size_t);
static char** libraries;
static int rounds;
static volatile int stop;
static volatile int pairs[2];  // by churning thread
enum { min_pairs = 100 };

static void* mark(void* p, int with) { return memset(p, with, object_bytes); }

static void release(char* p, int with) {
  for (int i = 0; i < object_bytes; ++i)
    if (p[i] != with) abort();
  free(p);
}

static void* reopen(void* number) {
  int offset = (int)(size_t)number;
  for (int i = 0; i < rounds || pairs[0] < min_pairs || pairs[1] < min_pairs; ++i) {
    char* kept[20];
    void* handle = dlopen(libraries[(i + offset) % 2], RTLD_NOW);
    if (handle == NULL) abort();
    maker left = (maker)dlsym(handle, "twin_left"), right = (maker)dlsym(handle, "twin_right");
    for (int k = 0; k < 20; ++k)
      kept[k] = mark(k % 2 ? left(object_bytes) : right(object_bytes), offset + k);
    dlclose(handle);
    for (int k = 0; k < 20; ++k) release(kept[k], offset + k);
  }
  return NULL;
}

static void* churn(void* number) {
  int with = 100 + (int)(size_t)number;
  long grouped = 0;
  while (!stop) {
    char *p = mark(left_make(object_bytes), with), *q = mark(right_make(object_bytes), with);
    grouped += is_grouped(p) && is_grouped(q);
    release(p, with);
    release(q, with);
    if (pairs[with - 100] < min_pairs) ++pairs[with - 100];
  }
  return (void*)grouped;
}

int main(int argc, char** argv) {
  pthread_t opening[2], churning[2];
  int grouped = 0;
  (void)argc;
  watchdog(200);
  libraries = argv + 1;
  rounds = atoi(argv[3]);
  for (size_t i = 0; i < 2; ++i) pthread_create(&churning[i], NULL, churn, (void*)i);
  for (size_t i = 0; i < 2; ++i) pthread_create(&opening[i], NULL, reopen, (void*)i);
  for (int i = 0; i < 2; ++i) pthread_join(opening[i], NULL);
  stop = 1;
  for (int i = 0; i < 2; ++i) {
    void* result;
    pthread_join(churning[i], &result);
    grouped += result != NULL;
  }
  printf("%d grouped all along\n", grouped);
}
