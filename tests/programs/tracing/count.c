/* Logs COUNT events in each of THREADS threads: argv[1] and argv[2]. */
#include <pthread.h>
#include <stdio.h>

#include "sites.h"

static long count;

static void* work(void* argument) {
  const long thread = (long)argument;
  for (long i = 0; i < count; ++i)
    event(&table.sites[i & 1], 0x1000 + 8 * (uint64_t)i, (uint64_t)thread << 32 | (uint64_t)i);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  count = atol(argv[1]);
  const int threads = atoi(argv[2]);
  pthread_t ids[64];
  for (long i = 1; i < threads; ++i) pthread_create(&ids[i], NULL, work, (void*)i);
  work((void*)0);
  for (int i = 1; i < threads; ++i) pthread_join(ids[i], NULL);
  return 7;
}
