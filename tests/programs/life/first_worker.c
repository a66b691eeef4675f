// The main thread allocates what is grouped, and nothing else, before its first thread forwards an
// allocation. Prints whether glibc's malloc serves that thread from an arena of its own, as it does
// where it was set up before: two threads that set it up at once share the main thread's arena.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { forwarded_bytes = 64 << 10, non_main_arena = 4 };

static void* work(void* result) {
  size_t* p = malloc(forwarded_bytes);
  __asm__("" : "+r"(p));  // what lies before it is not for the compiler to know
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
