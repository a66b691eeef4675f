// Forks while threads make their first allocations: before the first constructor, when the handlers
// around fork are not registered yet; in constructors of the library and of the program; and in
// main. Every child allocates immediately, also in a thread of its own, and frees the blocks that
// it inherited.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sites.h"
#include "watchdog.h"

enum { threads = 4, forks = 25, moments = 3, objects = 60, inherited_objects = 20 };
static int good, grouped_in_main;
static void* inherited[inherited_objects];

static int use_sites(int rounds) {
  unsigned char* kept[objects];
  int grouped = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < objects; ++i) {
      kept[i] = i % 3 == 0   ? near_make(object_bytes)
                : i % 3 == 1 ? left_make(object_bytes)
                             : right_make(object_bytes);
      memset(kept[i], i, object_bytes);
      grouped += is_grouped(kept[i]);
    }
    for (int i = 0; i < objects; ++i) {
      for (int k = 0; k < object_bytes; ++k)
        if (kept[i][k] != i) abort();
      free(kept[i]);
    }
  }
  return grouped;
}

static void* use_in_thread(void* rounds) {
  use_sites((int)(size_t)rounds);
  return NULL;
}

static void child(void) {
  pthread_t thread;
  watchdog(30);
  use_sites(3);
  for (int i = 0; i < inherited_objects; ++i) free(inherited[i]);
  if (pthread_create(&thread, NULL, use_in_thread, (void*)3) != 0) abort();
  use_sites(3);
  pthread_join(thread, NULL);
  _exit(0);
}

static void fork_often(void) {
  for (int i = 0; i < inherited_objects; ++i) inherited[i] = left_make(object_bytes);
  for (int i = 0; i < forks; ++i) {
    pthread_t all[threads];
    int status = 0;
    // Their first allocations, while this one forks.
    for (int k = 0; k < threads; ++k)
      if (pthread_create(&all[k], NULL, use_in_thread, (void*)20) != 0) abort();
    pid_t pid = fork();
    if (pid == 0) child();
    for (int k = 0; k < threads; ++k) pthread_join(all[k], NULL);
    if (waitpid(pid, &status, 0) != pid) abort();
    good += status == 0;
  }
  for (int i = 0; i < inherited_objects; ++i) free(inherited[i]);
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = fork_often;

__attribute__((constructor(101))) static void construct(void) { fork_often(); }

int main(void) {
  watchdog(60);
  fork_often();
  grouped_in_main = use_sites(10);
  printf("%d of %d children, %d grouped\n", good, moments * forks, grouped_in_main);
}
