// Threads concurrently open and close libraries at changing addresses, open them and end, fork, and
// allocate. Arguments: two libraries of twin.c, and rounds.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sites.h"
#include "watchdog.h"

typedef void* (*maker)(size_t);
enum { openers = 3, objects = 20 };
static char** libraries;
static int rounds;
static volatile int stop;
static int children, crashed;

// Marks objects of a library, closes it, and checks them.
static long use(void* handle, int with) {
  char* kept[objects];
  long grouped = 0;
  maker left = (maker)dlsym(handle, "twin_left"), right = (maker)dlsym(handle, "twin_right");
  for (int k = 0; k < objects; ++k) {
    kept[k] = memset(k % 2 ? left(object_bytes) : right(object_bytes), with + k, object_bytes);
    grouped += is_grouped(kept[k]);
  }
  dlclose(handle);
  for (int k = 0; k < objects; ++k) {
    for (int i = 0; i < object_bytes; ++i)
      if (kept[k][i] != (char)(with + k)) abort();
    free(kept[k]);
  }
  return grouped;
}

static void* reopen(void* number) {
  int offset = (int)(size_t)number;
  long grouped = 0;
  for (int i = 0; i < rounds; ++i) {
    size_t away = (size_t)(1 + i % 5) * 4096;
    void* taken = mmap(NULL, away, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void* handle = dlopen(libraries[(i + offset) % 2], RTLD_NOW);
    if (handle == NULL) abort();
    grouped += use(handle, offset);
    munmap(taken, away);
  }
  return (void*)grouped;
}

static void* open_and_end(void* unused) {
  (void)unused;
  return dlopen(libraries[0], RTLD_NOW);
}

static void* start_openers(void* unused) {
  while (!stop) {
    pthread_t thread;
    void* handle;
    pthread_create(&thread, NULL, open_and_end, NULL);
    pthread_join(thread, &handle);
    dlclose(handle);
  }
  return unused;
}

static void allocate_here(void) {
  for (int i = 0; i < 200; ++i) {
    void* p = right_make(object_bytes);
    free(malloc(100));
    free(p);
  }
}

static void* start_children(void* unused) {
  while (!stop) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
      alarm(20);
      allocate_here();
      _exit(0);
    }
    waitpid(child, &status, 0);
    ++children;
    crashed += status != 0;
  }
  return unused;
}

static void* churn(void* unused) {
  while (!stop) allocate_here();
  return unused;
}

int main(int argc, char** argv) {
  pthread_t opening[openers], others[4];
  void* (*const work[])(void*) = {churn, churn, start_openers, start_children};
  long grouped = 0;
  (void)argc;
  watchdog(200);
  libraries = argv + 1;
  rounds = atoi(argv[3]);
  for (int i = 0; i < 4; ++i) pthread_create(&others[i], NULL, work[i], NULL);
  for (size_t i = 0; i < openers; ++i) pthread_create(&opening[i], NULL, reopen, (void*)i);
  for (int i = 0; i < openers; ++i) {
    void* result;
    pthread_join(opening[i], &result);
    grouped += (long)result;
  }
  stop = 1;
  for (int i = 0; i < 4; ++i) pthread_join(others[i], NULL);
  printf("%s, %d crashed, %s\n", grouped > 0 ? "grouped" : "none grouped", crashed,
         children > 0 ? "children" : "no child");
}
