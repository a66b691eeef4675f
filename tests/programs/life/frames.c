// Frames that are hard to pass: an assembly function without call-frame records, and one that keeps
// data in rbp between two frames that need it.
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>

#include "sites.h"
#include "watchdog.h"

static char* get(size_t n) {
  char* p = malloc(n);
  p[0] = 1;
  return p;
}

static void take(void) {
  char* p = get(object_bytes);
  p[1] = 1;
}

// Calls f with 16 in rbp and eleven words on the stack without call-frame records.
void call_bare(void (*f)(void));
__asm__(
    ".text\n"
    ".type call_bare, @function\n"
    "call_bare:\n"
    "  push %rbp\n"
    "  sub $80, %rsp\n"
    "  mov $16, %ebp\n"
    "  call *%rdi\n"
    "  add $80, %rsp\n"
    "  pop %rbp\n"
    "  ret\n"
    ".size call_bare, .-call_bare\n");

static void bare_one(void) { call_bare(take); }
static void bare_other(void) { call_bare(take); }

// rbp holds data during the call, the caller's own value is saved.
static void scrambling(void) {
  char* p;
  __asm__ volatile("mov $-8, %%rbp" ::: "rbp");
  p = get(object_bytes);
  p[2] = 1;
  __asm__ volatile("" ::: "rbp");
}

static int sized(int n) {
  char* room = alloca(n);
  room[0] = room[n - 1] = 1;
  scrambling();
  return room[n - 1];
}

static int sized_one(int i) { return sized(16 + i % 40 * 8) + 1; }
static int sized_other(int i) { return sized(600 + i % 70 * 16) + 2; }

int main(int argc, char** argv) {
  int sum = 0;
  (void)argc;
  watchdog(60);
  for (int i = 0; i < 100 * atoi(argv[1]); ++i) {
    if (i % 100 < 17) bare_one();
    if (i % 100 < 29) bare_other();
    if (i % 100 < 41) sum += sized_one(i);
    if (i % 100 < 53) sum += sized_other(i);
  }
  printf("%d\n", sum);
}
