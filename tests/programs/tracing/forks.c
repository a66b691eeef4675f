/* Forks argv[1] times while two threads log and allocate without pause; each child logs and
   allocates 50 times. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sites.h"

static void log_one(int site) {
  event(&table.sites[site], 0x1000, 1);
  void* volatile object = malloc(33);
  free(object);
}

static void* work(void* argument) {
  (void)argument;
  for (;;) log_one(1);
}

int main(int argc, char** argv) {
  pthread_t thread;
  for (int i = 0; i < 2; ++i) pthread_create(&thread, NULL, work, NULL);
  for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 0); ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (int j = 0; j < 50; ++j) log_one(0);
      _exit(5);
    }
    int status;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 5) return 1;
  }
  return 7;
}
