// Children by vfork, posix_spawn, system and popen, while a thread allocates. The arguments are
// other programs to run, each of which must succeed.
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sites.h"
#include "watchdog.h"

enum { objects = 500, vforks = 100 };
extern char** environ;
static volatile int stop;

static void* churn(void* unused) {
  (void)unused;
  while (!stop) release_block(left_make(object_bytes));
  return NULL;
}

static int use(void) {
  int grouped = 0;
  for (int i = 0; i < 100; ++i) {
    void* p = right_make(object_bytes);
    grouped += is_grouped(p);
    free(p);
  }
  return grouped;
}

static int wait_for(pid_t pid) {
  int status;
  if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) abort();
  return WEXITSTATUS(status);
}

// The child works in the parent's memory, as the parent's thread.
static int by_vfork(char* volatile* kept) {
  volatile int sum = 0;
  for (volatile int i = 0; i < vforks; ++i) {
    pid_t pid = vfork();
    if (pid == 0) {
      free(kept[i]);
      kept[i] = near_make(object_bytes);
      memset(kept[i], 'v', object_bytes);
      _exit(use() == 100);
    }
    sum += wait_for(pid);
  }
  return sum;
}

static int by_spawn(const char* path, const char* argument) {
  char* const arguments[] = {(char*)path, (char*)argument, NULL};
  pid_t pid;
  if (posix_spawn(&pid, path, NULL, NULL, arguments, environ) != 0) abort();
  return wait_for(pid);
}

int main(int argc, char** argv) {
  char* volatile kept[objects];
  char line[64] = "";
  pthread_t thread;
  int good = 0, intact = 0;
  if (argc == 2 && strcmp(argv[1], "child") == 0) return use() == 100 ? 0 : 1;
  watchdog(120);
  pthread_create(&thread, NULL, churn, NULL);
  for (int i = 0; i < objects; ++i) memset(kept[i] = near_make(object_bytes), 'p', object_bytes);
  good = by_vfork(kept);
  for (int i = 0; i < objects; ++i) intact += kept[i][9] == (i < vforks ? 'v' : 'p');
  printf("%d by vfork, %d intact, itself %d", good, intact, by_spawn(argv[0], "child"));
  for (int i = 1; i < argc; ++i) printf(", other %d", by_spawn(argv[i], NULL));
  printf(", system %d", WEXITSTATUS(system("exit 7")));
  FILE* pipe = popen("echo heard", "r");
  if (pipe == NULL || fgets(line, sizeof line, pipe) == NULL || pclose(pipe) != 0) abort();
  stop = 1;
  pthread_join(thread, NULL);
  for (int i = 0; i < objects; ++i) free(kept[i]);
  printf(", %d grouped, %s", use(), line);
}
