// Calls that the optimiser turns into jumps: each function's return address shows the caller.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) void* deepest(void) { return __builtin_return_address(0); }
__attribute__((noinline)) void* jumping(void) { return deepest(); }
__attribute__((noinline)) void* either(int odd) {
  void* found;
  if (odd)
    found = deepest();
  else
    found = jumping();
  return found;
}
__attribute__((noinline)) void* allocate(size_t bytes) { return malloc(bytes); }

// The last call of each jumped to: then all return to the same place.
__attribute__((noinline)) int same(void* (*function)(int), int odd) {
  void* here = function(odd);
  return here == __builtin_extract_return_addr(here) && here > (void*)same &&
         (char*)here < (char*)same + 400;
}

int main(void) {
  free(allocate(24));
  printf("%d %d\n", same(either, 0), same(either, 1));
  return 0;
}
