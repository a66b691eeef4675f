// Forks before any constructor has run, and from a constructor: four processes, all of which must
// work.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sites.h"
#include "watchdog.h"

enum { objects = 1000 };
static pid_t children[2];
static int is_eldest = 1;

static void fork_here(int which) {
  void* before = left_make(object_bytes);
  pid_t pid = fork();
  if (pid < 0) abort();
  if (pid == 0) {
    children[0] = children[1] = 0;
    is_eldest = 0;
  } else {
    children[which] = pid;
  }
  free(before);
  free(left_make(object_bytes));
}

static void before_everything(void) { fork_here(0); }

__attribute__((section(".preinit_array"),
               used)) static void (*const first)(void) = before_everything;

__attribute__((constructor)) static void construct(void) { fork_here(1); }

int main(void) {
  int grouped = 0, good = 1;
  watchdog(60);
  for (int i = 0; i < objects; ++i) {
    void* p = right_make(object_bytes);
    grouped += is_grouped(p);
    free(p);
  }
  for (int i = 0; i < 2; ++i) {
    int status = 0;
    if (children[i] != 0 && waitpid(children[i], &status, 0) != children[i]) abort();
    good += status == 0;
  }
  if (is_eldest) printf("%d grouped, %d good\n", grouped, good);
  return grouped == objects && good == 3 ? 0 : 1;
}
