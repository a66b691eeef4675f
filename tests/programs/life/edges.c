// Functions that a walk passes through, also called as the first ones of a foreign stack. Argument:
// "ordinary" calls them on the thread's own stack only, "edge" on both.
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign_stack.h"
#include "sites.h"
#include "watchdog.h"

enum { objects = 2000, stack_bytes = 16384 };
static int grouped[3], total[3];

static char* get(size_t n) {
  char* p = malloc(n);
  p[0] = 1;
  return p;
}

static void count(int kind, char* p) {
  ++total[kind];
  grouped[kind] += is_grouped(p);
  free(p);
}

// A frame of constant size.
static void middle(void* kind) {
  char* p = get(object_bytes);
  p[1] = 1;
  count((int)(size_t)kind, p);
}

// A frame that only rbp leads out of.
static void sized(void* kind) {
  size_t n = 16 + 16 * (size_t)kind;
  char* room = alloca(n);
  room[0] = room[n - 1] = 1;
  char* p = get(object_bytes);
  p[2] = room[n - 1];
  count((int)(size_t)kind, p);
}

// Recursive for a few levels.
static void again(void* depth) {
  if (depth != NULL) {
    again((char*)depth - 1);
    return;
  }
  char* p = get(object_bytes);
  p[3] = 1;
  count(2, p);
}

// The first return address in each of these decides, two frames above get.
static void by_one(void) {
  middle((void*)0);
  sized((void*)0);
  again((void*)3);
}

static void by_other(void) {
  middle((void*)1);
  sized((void*)1);
  again((void*)4);
}

static void one_on_edge(void* unused) {
  (void)unused;
  by_one();
}

static void at_the_edge(char* top) {
  call_on(top, middle, (void*)2);
  call_on(top, sized, (void*)2);
  call_on(top, again, (void*)2);
  call_on(top, again, (void*)0);
  call_on(top, one_on_edge, NULL);
}

int main(int argc, char** argv) {
  int edge = argc == 2 && strcmp(argv[1], "edge") == 0;
  char* stack = make_stack(stack_bytes);
  watchdog(60);
  for (int i = 0; i < objects; ++i) {
    by_one();
    by_other();
    if (edge) at_the_edge(stack + stack_bytes);
  }
  printf("%d %d %d of %d %d %d\n", grouped[0], grouped[1], grouped[2], total[0], total[1],
         total[2]);
}
