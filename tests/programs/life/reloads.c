// Opens and closes a library repeatedly, each time at another address. Arguments: the library, and
// rounds.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "sites.h"
#include "watchdog.h"

typedef void* (*maker)(size_t);
enum { objects = 20 };

// Counted by page; the kernel's running total is not exact.
static long resident_bytes(void) {
  char line[200];
  long kilobytes = 0;
  FILE* file = fopen("/proc/self/smaps_rollup", "r");
  if (file == NULL) abort();
  while (fgets(line, sizeof line, file) != NULL) sscanf(line, "Rss: %ld", &kilobytes);
  fclose(file);
  return kilobytes * 1024;
}

// Maps the range below the lowest mapping, where the library would be placed next. Earlier ranges
// are adjacent and of the same kind, so the kernel merges them: it allows some ten thousand
// mappings only.
static void take_place(int round) {
  mmap(NULL, (size_t)(1 + round % 3) * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(int argc, char** argv) {
  int rounds = atoi(argv[2]), moves = 0;
  long grouped = 0, resident = 0;
  void* last = NULL;
  (void)argc;
  watchdog(200);
  for (int i = 0; i < rounds; ++i) {
    if (i == 0 || i == rounds / 5) resident = resident_bytes();
    take_place(i);
    void* handle = dlopen(argv[1], RTLD_NOW);
    if (handle == NULL) abort();
    maker left = (maker)dlsym(handle, "twin_left"), right = (maker)dlsym(handle, "twin_right");
    for (int k = 0; k < objects; ++k) {
      void* p = k % 2 ? left(object_bytes) : right(object_bytes);
      grouped += is_grouped(p);
      free(p);
    }
    dlclose(handle);
    moves += (void*)left != last;
    last = (void*)left;
  }
  printf("%d moves, %ld grouped, %ld grown\n", moves, grouped, resident_bytes() - resident);
}
