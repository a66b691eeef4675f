/* A storm of signals whose handlers log, on a stack of their own: argv[1] events in all but the
   handlers, which print how many they were; argv[2] "jump": some leave the hook for good. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "sites.h"

static volatile sig_atomic_t handled;
static int jumps;
static sigjmp_buf back;

static void handle(int signal) {
  (void)signal;
  for (int i = 0; i < 3; ++i) event(&table.sites[1], 0x2000, 1);
  handled = handled + 1;
  if (jumps && handled % 4 == 0) siglongjmp(back, 1);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  jumps = argc > 2 && strcmp(argv[2], "jump") == 0;
  static char stack[65536];
  const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&other, NULL);
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK | SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  const long count = atol(argv[1]);
  static volatile long i;
  sigsetjmp(back, 1);
  while (i < count) {
    i = i + 1;
    event(&table.sites[0], 0x1000, 1);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  printf("%d\n", (int)handled);
  return 7;
}
