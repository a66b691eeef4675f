// Runs under a limit that it sets itself, as its argument names, and prints "fine", or the
// difference from a program without the runtime.
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { count = 2000 };
static char* blocks[count];

static void make(int from, int to) {
  for (int i = from; i < to; ++i) {
    blocks[i] = malloc(24);
    memset(blocks[i], i, 24);
  }
}
static void say(const char* text) {
  write(1, text, strlen(text));
  syscall(SYS_exit, 0);
}
static long locked_kibibytes(void) {
  char line[256];
  long found = -1;
  FILE* status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status))
    if (strncmp(line, "VmLck:", 6) == 0) found = atol(line + 6);
  fclose(status);
  return found;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  void* volatile first = malloc(5000);  // initialises the C library's heap
  free(first);
  if (strcmp(what, "strict") == 0) {
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    make(0, 100);
    say("fine\n");
  }
  make(0, count);
  if (strcmp(what, "address space") == 0) {
    struct rlimit limit = {1ul << 30, 1ul << 30};
    setrlimit(RLIMIT_AS, &limit);
    void* volatile large = malloc(500 << 20);
    if (!large) say("no memory\n");
  }
  if (strcmp(what, "lock") == 0) {
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) say("not locked\n");
    if (locked_kibibytes() > 16 << 10) say("more locked than there is\n");
  }
  say("fine\n");
}
