// Frees and allocates in a library's destructor.
#include "late.h"

#include <stdio.h>

#include "sites.h"

static void* kept[1000];
static int count;

void late_free(void* p) { kept[count++] = p; }

__attribute__((destructor)) static void destroy(void) {
  for (int i = 0; i < count; ++i) {
    release_block(kept[i]);
    release_block(left_make(object_bytes));
  }
  dprintf(1, "late freed %d\n", count);
}
