// Misuses freed memory once, as its argument names, and continues to allocate. Prints "fine" if
// every block that it receives is its own: separate from all others, and at no address that it has
// chosen.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 4000, size = 40 };
static char* kept[count];
static uintptr_t target[64];
static const char* misuse;

static int is(const char* name) { return strcmp(misuse, name) == 0; }
static char* make(int i) {
  char* p = malloc(size);
  if (!p) exit(4);
  return memset(p, i, size);
}
static int compare(const void* a, const void* b) {
  uintptr_t x = *(const uintptr_t*)a, y = *(const uintptr_t*)b;
  return x < y ? -1 : x > y;
}

int main(int argc, char** argv) {
  misuse = argc > 1 ? argv[1] : "";
  for (int i = 0; i < 100; ++i) free(make(i));
  char* more = malloc(200);
  char* volatile u = make(1), * volatile v = make(2), * volatile w = make(3);
  if (is("double")) free(v), free(v);
  if (is("double, another between")) free(v), free(w), free(v);
  if (is("double, written between")) free(v), memset(v, 1, size), free(v);
  if (is("inside")) free(v + 8);
  if (is("inside, odd")) free(v + 1);
  if (is("never allocated")) free(v + (1 << 20));
  if (is("realloc of freed")) free(v), v = realloc(v, size);
  if (is("write after free")) free(u), free(w), ((uintptr_t*)w)[0] = (uintptr_t)target;
  if (is("overflow")) free(w), memset(v, 0x41, size + 16);
  for (int i = 0; i < count; ++i) kept[i] = make(i);
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < size; ++k)
      if (kept[i][k] != (char)i) return puts("a block is damaged"), 3;
  qsort(kept, count, sizeof *kept, compare);
  for (int i = 0; i < count; ++i) {
    if (kept[i] >= (char*)target && kept[i] < (char*)(target + 64)) return puts("chosen"), 3;
    if (i > 0 && kept[i] < kept[i - 1] + size) return puts("given out twice"), 3;
  }
  free(more);
  puts("fine");
  return 0;
}
