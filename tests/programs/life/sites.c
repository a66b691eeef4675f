// The allocation sites; the bodies differ, so that none is merged with another.
#include "sites.h"

#include <stdlib.h>

static void* innermost(size_t bytes) {
  char* p = malloc(bytes);
  p[0] = 1;
  return p;
}

void* between(size_t bytes) {
  char* p = innermost(bytes);
  p[1] = 1;
  return p;
}

void* left_make(size_t bytes) {
  char* p = between(bytes);
  p[2] = 1;
  return p;
}

void* right_make(size_t bytes) {
  char* p = between(bytes);
  p[3] = 1;
  return p;
}

void* near_make(size_t bytes) {
  char* p = malloc(bytes);
  p[4] = 1;
  return p;
}

void* cleared_make(size_t bytes) {
  char* p = calloc(1, bytes);
  p[5] = 1;
  return p;
}

void* resized(void* p, size_t bytes) {
  char* moved = realloc(p, bytes);
  moved[6] = 1;
  return moved;
}

void release_block(void* p) { free(p); }
