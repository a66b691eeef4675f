// Forks repeatedly while threads allocate; the handlers around each fork allocate, too.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sites.h"
#include "watchdog.h"

enum { threads = 4, forks = 150, objects = 200, inherited_objects = 500 };
static volatile int stop;
static void* inherited[inherited_objects];

static void around_fork(void) {
  release_block(near_make(object_bytes));
  free(malloc(1000));
}

static void register_handlers(void) {
  if (pthread_atfork(around_fork, around_fork, around_fork) != 0) abort();
}

// Before the runtime registers its own.
__attribute__((section(".preinit_array"),
               used)) static void (*const first)(void) = register_handlers;

static void* churn(void* unused) {
  void* slots[64] = {0};
  (void)unused;
  for (unsigned i = 0; !stop; ++i) {
    void** slot = &slots[i * 7 % 64];
    free(*slot);
    *slot = i % 3 == 0 ? near_make(object_bytes) : i % 3 == 1 ? left_make(100) : malloc(3000);
  }
  for (int i = 0; i < 64; ++i) free(slots[i]);
  return NULL;
}

static void* use(void* grouped) {
  void* slots[objects];
  for (int i = 0; i < objects; ++i) {
    slots[i] = right_make(object_bytes);
    *(int*)grouped += is_grouped(slots[i]);
  }
  for (int i = 0; i < objects; ++i) free(slots[i]);
  return NULL;
}

// All operations work in the child: with the parent's blocks, with its own, and in a thread of its
// own.
static int child(void) {
  int grouped = 0;
  pthread_t thread;
  watchdog(60);
  for (int i = 0; i < inherited_objects; ++i) free(inherited[i]);
  use(&grouped);
  if (pthread_create(&thread, NULL, use, &grouped) != 0) return 2;
  pthread_join(thread, NULL);
  for (int i = 0; i < objects; ++i) free(malloc(i * 50));
  return grouped == 2 * objects ? 0 : 1;
}

static void* prepare(void* unused) {
  (void)unused;
  for (int i = 0; i < inherited_objects; ++i) inherited[i] = near_make(object_bytes);
  return NULL;
}

int main(void) {
  pthread_t all[threads], other;
  int good = 0;
  watchdog(120);
  register_handlers();
  pthread_create(&other, NULL, prepare, NULL);
  pthread_join(other, NULL);
  for (int i = 0; i < threads; ++i) pthread_create(&all[i], NULL, churn, NULL);
  for (int i = 0; i < forks; ++i) {
    int status;
    pid_t pid = fork();
    if (pid == 0) _exit(child());
    if (pid < 0 || waitpid(pid, &status, 0) != pid) abort();
    good += status == 0;
  }
  stop = 1;
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  printf("%d of %d\n", good, forks);
}
