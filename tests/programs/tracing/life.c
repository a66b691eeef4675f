/* Logs EVENTS events and ends in the way that argv[1] names (test_logging_life.py). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sites.h"

enum { EVENTS = 1000 };

static void log_events(int count) {
  for (int i = 0; i < count; ++i) event(&table.sites[0], 0x1000 + 8 * (uint64_t)i, 1);
}

static pthread_barrier_t logged;

static void* wait_for_ever(void* argument) {
  log_events(EVENTS);
  pthread_barrier_wait(&logged);
  for (;;) pause();
  return argument;
}

static void* pause_for_ever(void* argument) {
  (void)argument;
  for (;;) pause();
}

static void start_waiting(void) {
  pthread_t thread;
  pthread_barrier_init(&logged, NULL, 2);
  pthread_create(&thread, NULL, wait_for_ever, NULL);
  pthread_barrier_wait(&logged);
}

static pthread_key_t late_key;

static void log_late(void* value) {
  log_events(10);
  const long round = (long)value;
  if (round < PTHREAD_DESTRUCTOR_ITERATIONS) pthread_setspecific(late_key, (void*)(round + 1));
}

static void* end_late(void* argument) {
  pthread_setspecific(late_key, (void*)1);
  log_events(EVENTS);
  return argument;
}

static void* run_away(void* argument) {
  (void)argument;
  for (;;) event(&table.sites[1], 0x2000, 0);
}

static int fork_and_wait(int events, int status) {
  int result = 0;
  const pid_t child = fork();
  if (child == 0) {
    log_events(events);
    _exit(status);
  }
  waitpid(child, &result, 0);
  printf("%d\n", (int)child);
  return WEXITSTATUS(result);
}

/* The lowest number that is free must be ours, whatever the library opens at that moment. */
static int count_wrong_descriptors(void) {
  int wrong = 0;
  for (int i = 0; i < 300; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      log_events(1);
      int right = 1;
      for (int at = 0; at < 200 && right; ++at) {
        close(0);
        right = open("/dev/null", O_RDONLY) == 0;
      }
      _exit(!right);
    }
    int status = 1;
    waitpid(child, &status, 0);
    wrong += status != 0;
  }
  return wrong;
}

static void* print_late(void* argument) {
  usleep(200000);
  log_events(EVENTS);
  printf("late\n");
  return argument;
}

static int many_threads(void) {
  pthread_t thread;
  for (int i = 0; i < 500; ++i) {
    if (pthread_create(&thread, NULL, end_late, NULL) != 0) return 9;
    pthread_join(thread, NULL);
  }
  return 0;
}

static void handle(int signal) {
  log_events(1);
  _exit(40 + signal);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "again") == 0) {
    log_events(20);
    return 3;
  }
  pthread_key_create(&late_key, log_late);
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  log_events(EVENTS);
  if (strcmp(how, "return") == 0) return 3;
  if (strcmp(how, "_exit") == 0) _exit(3);
  if (strcmp(how, "_Exit") == 0) _Exit(3);
  if (strcmp(how, "quick_exit") == 0) quick_exit(3);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "segv") == 0) *(volatile int*)8 = 1;
  if (strcmp(how, "ill") == 0) __builtin_trap();
  if (strcmp(how, "term") == 0) kill(getpid(), SIGTERM);
  if (strcmp(how, "handled") == 0) {
    signal(SIGTERM, handle);
    raise(SIGTERM);
  }
  if (strcmp(how, "default") == 0) {
    struct sigaction action;
    if (sigaction(SIGTERM, NULL, &action) != 0 || action.sa_handler != SIG_DFL) return 8;
    if (signal(SIGINT, SIG_IGN) != SIG_DFL || signal(SIGINT, SIG_DFL) != SIG_IGN) return 9;
    return 3;
  }
  if (strcmp(how, "kill") == 0) {
    usleep(400000); /* longer than the writer's longest pause */
    kill(getpid(), SIGKILL);
  }
  if (strcmp(how, "waiting") == 0) {
    start_waiting();
    return 3;
  }
  if (strcmp(how, "waiting-exit") == 0) {
    start_waiting();
    _exit(3);
  }
  if (strcmp(how, "running") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, run_away, NULL);
    usleep(20000);
    return 3;
  }
  if (strcmp(how, "pthread_exit") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, pause_for_ever, NULL);
    pthread_cancel(thread);
    pthread_exit(NULL);
  }
  if (strcmp(how, "pthread_exit-late") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, print_late, NULL);
    pthread_exit(NULL);
  }
  if (strcmp(how, "pthread_exit-full") == 0) {
    uint64_t value = 1;
    for (int i = 0; i < 400000; ++i) {
      value = value * 6364136223846793005 + 1442695040888963407;
      event(&table.sites[0], value >> 16, 1);
    }
    pthread_exit(NULL);
  }
  if (strcmp(how, "descriptors") == 0) return count_wrong_descriptors() != 0;
  if (strcmp(how, "close-all") == 0) {
    for (int at = 3; at < 8192; ++at) close(at);
    log_events(EVENTS);
    return 3;
  }
  if (strcmp(how, "threads") == 0) return many_threads();
  if (strcmp(how, "fork") == 0) return fork_and_wait(30, 3);
  if (strcmp(how, "silent-fork") == 0) return fork_and_wait(0, 3);
  if (strcmp(how, "exec") == 0) {
    execl("/proc/self/exe", argv[0], "again", NULL);
    return 9;
  }
  if (strcmp(how, "failing-exec") == 0) {
    if (execl("/nowhere", "nowhere", NULL) != -1) return 9;
    log_events(EVENTS);
    return 3;
  }
  if (strcmp(how, "setuid") == 0) { /* libc asks every thread to do the same */
    if (setuid(getuid()) != 0) return 9;
    log_events(EVENTS);
    return 3;
  }
  if (strcmp(how, "vfork") == 0) {
    const pid_t child = vfork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
    log_events(EVENTS);
    return 3;
  }
  return 2;
}
