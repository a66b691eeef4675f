// A coroutine opens a library and ends; its stack is unmapped, and the next coroutine, on the
// mapping below, allocates. Argument: the library.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "sites.h"

enum { stack_bytes = 32768, objects = 100 };
static ucontext_t home, opening, allocating;
static const char* path;
static void* handle;
static int grouped;

static void open_library(void) { handle = dlopen(path, RTLD_NOW); }

static void allocate(void) {
  for (int i = 0; i < objects; ++i) {
    free(malloc(100000));
    void* p = left_make(object_bytes);
    grouped += is_grouped(p);
    free(p);
  }
}

static void* map_stack(void) {
  return mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void run(ucontext_t* context, void* stack, void (*function)(void)) {
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = stack_bytes;
  context->uc_link = &home;
  makecontext(context, function, 0);
  swapcontext(&home, context);
}

int main(int argc, char** argv) {
  (void)argc;
  path = argv[1];
  void *upper = map_stack(), *lower = map_stack();
  run(&opening, upper, open_library);
  munmap(upper, stack_bytes);
  run(&allocating, lower, allocate);
  printf("%s, %d grouped\n", handle != NULL ? "opened" : "refused", grouped);
}
