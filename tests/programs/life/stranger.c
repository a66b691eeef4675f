// A program that is in no plan: none of its objects is grouped.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  int forwarded = 0;
  for (int i = 0; i < 1000; ++i) {
    void* p = malloc(32);
    forwarded += malloc_usable_size(p) != 32;
    free(p);
  }
  return forwarded == 1000 ? 0 : 1;
}
