// The loader's thread-local blocks: allocated by one thread and freed by another, while their stack
// is reused in between. Also after a dlclose, in a forked child, and in a thread that is older than
// every constructor. Arguments: rounds, libraries made of tls_small.c.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sites.h"
#include "watchdog.h"

enum { threads = 6, max_libraries = 64, max_stacks = 4096, large_stack = 48 << 20 };
typedef char* (*block_function)(void);

static int libraries;
static char** paths;
static void* handles[max_libraries];
static block_function block_of[max_libraries];
static long touched, grouped, reused;
static pthread_t stacks[max_stacks];
static int stack_count;
static pthread_t early;
static int may_go;

static void open_library(int at) {
  handles[at] = dlopen(paths[at], RTLD_NOW | RTLD_LOCAL);
  if (handles[at] == NULL) abort();
  block_of[at] = (block_function)dlsym(handles[at], "small_block");
}

// All blocks exist, are zero at first, and keep this thread's values.
static void touch_all(int mark) {
  static const char zero[object_bytes];
  for (int i = 0; i < libraries; ++i) {
    char* block = block_of[i]();
    if (memcmp(block, zero, object_bytes) != 0) abort();
    memset(block, mark + i, object_bytes);
    __atomic_fetch_add(&touched, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&grouped, is_grouped(block), __ATOMIC_RELAXED);
    free(left_make(object_bytes));
  }
  for (int i = 0; i < libraries; ++i)
    for (int k = 0; k < object_bytes; ++k)
      if (block_of[i]()[k] != (char)(mark + i)) abort();
}

static void* touch(void* mark) {
  touch_all((int)(size_t)mark);
  return NULL;
}

static void* touch_when_told(void* mark) {
  while (!__atomic_load_n(&may_go, __ATOMIC_ACQUIRE)) usleep(1000);
  return touch(mark);
}

// A thread's descriptor lies on its stack.
static void note_stack(pthread_t thread) {
  for (int i = 0; i < stack_count; ++i)
    if (stacks[i] == thread) {
      ++reused;
      return;
    }
  if (stack_count < max_stacks) stacks[stack_count++] = thread;
}

static void run_threads(int count, size_t stack_size) {
  pthread_t all[threads];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stack_size != 0) pthread_attr_setstacksize(&attributes, stack_size);
  for (int i = 0; i < count; ++i) {
    if (pthread_create(&all[i], &attributes, touch, (void*)(size_t)(i + 1)) != 0) abort();
    note_stack(all[i]);
  }
  for (int i = 0; i < count; ++i) pthread_join(all[i], NULL);
  pthread_attr_destroy(&attributes);
}

// The main thread's blocks outlive the libraries; the next use frees them.
static void reopen_libraries(void) {
  for (int i = 0; i < libraries; i += 2) dlclose(handles[i]);
  for (int i = 0; i < libraries; i += 2) open_library(i);
}

static void fork_one(void) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    watchdog(20);
    run_threads(2, 0);
    _exit(0);
  }
  if (waitpid(child, &status, 0) != child || status != 0) abort();
}

static void start_early_thread(void) {
  if (pthread_create(&early, NULL, touch_when_told, (void*)100) != 0) abort();
}

__attribute__((section(".preinit_array"),
               used)) static void (*const first)(void) = start_early_thread;

int main(int argc, char** argv) {
  int rounds = atoi(argv[1]);
  watchdog(100);
  libraries = argc - 2;
  paths = argv + 2;
  for (int i = 0; i < libraries; ++i) open_library(i);
  __atomic_store_n(&may_go, 1, __ATOMIC_RELEASE);
  pthread_join(early, NULL);
  for (int round = 0; round < rounds; ++round) {
    run_threads(threads, 0);
    // More than the C library caches: the cached stacks are unmapped, and their blocks freed.
    if (round % 4 == 3) run_threads(1, large_stack);
    if (round % 8 == 5) reopen_libraries();
    if (round % 8 == 7) fork_one();
  }
  printf("%ld touched, %ld grouped, stacks %s\n", touched, grouped,
         reused > rounds ? "used again" : "new");
}
