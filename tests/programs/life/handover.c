// One thread allocates, another frees. "idle": the first waits meanwhile, and continues with the
// same heap; "ended": it ends before its objects are freed, and another adopts its heap.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sites.h"
#include "watchdog.h"

enum { objects = 20000, rounds = 60 };
static unsigned char* kept[objects];
static int grouped;
static pthread_barrier_t turn;

static void fill(void) {
  for (int i = 0; i < objects; ++i) {
    kept[i] = i % 2 ? near_make(object_bytes) : left_make(object_bytes);
    grouped += is_grouped(kept[i]);
    memset(kept[i], i % 251, object_bytes);
  }
}

static void drop(void) {
  for (int i = 0; i < objects; ++i) {
    if (kept[i][0] != i % 251 || kept[i][object_bytes - 1] != i % 251) abort();
    free(kept[i]);
  }
}

static void* fill_in_turn(void* unused) {
  (void)unused;
  for (int round = 0; round < rounds; ++round) {
    fill();
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
  }
  return NULL;
}

static void* fill_once(void* unused) {
  (void)unused;
  fill();
  return NULL;
}

int main(int argc, char** argv) {
  int ended = argc == 2 && strcmp(argv[1], "ended") == 0;
  pthread_t thread;
  watchdog(100);
  pthread_barrier_init(&turn, NULL, 2);
  if (!ended) pthread_create(&thread, NULL, fill_in_turn, NULL);
  for (int round = 0; round < rounds; ++round) {
    if (ended) {
      pthread_create(&thread, NULL, fill_once, NULL);
      pthread_join(thread, NULL);
      drop();
    } else {
      pthread_barrier_wait(&turn);
      drop();
      pthread_barrier_wait(&turn);
    }
  }
  if (!ended) pthread_join(thread, NULL);
  printf("%d grouped\n", grouped);
}
