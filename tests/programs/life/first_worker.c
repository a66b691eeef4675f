// The main thread makes only grouped allocations before its first thread forwards one. Prints
// whether glibc's malloc serves that thread from an arena of its own, as it does if it was
// initialised before. Two threads that initialise it concurrently share the main thread's arena.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { forwarded_bytes = 64 << 10, non_main_arena = 4 };

static void* work(void* result) {
  size_t* p = malloc(forwarded_bytes);
  __asm__("" : "+r"(p));  // hides the value from the compiler
  *(int*)result = p != NULL && (p[-1] & non_main_arena) != 0;
  free(p);
  return NULL;
}

int main(void) {
  pthread_t thread;
  int own = 0;
  if (pthread_create(&thread, NULL, work, &own) != 0) abort();
  pthread_join(thread, NULL);
  puts(own ? "own arena" : "main arena");
}
