// A library with two variants of frame size, FRAME bytes, and all code at the same addresses.
#include <stdlib.h>

static void* inner(size_t n) {
  char room[FRAME];
  __asm__ volatile("" ::"r"(room) : "memory");
  char* p = malloc(n);
  p[0] = 1;
  __asm__ volatile("" ::"r"(room) : "memory");
  return p;
}

void* twin_left(size_t n) {
  char* p = inner(n);
  p[1] = 1;
  return p;
}

void* twin_right(size_t n) {
  char* p = inner(n);
  p[2] = 1;
  return p;
}
