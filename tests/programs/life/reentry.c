// A signal between any two instructions of the runtime, whose handler allocates and frees at the
// same sites. Each time a forked copy of the process takes the signal, goes on, and checks that no
// block was given out twice. The argument says what is interrupted.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime_range.h"
#include "sites.h"
#include "stepping.h"
#include "watchdog.h"

enum { most_held = 4000, extra = 64, small = object_bytes, large = 4000 };
static unsigned char* held[most_held];
static int count, is_copy, copies, failed;
static size_t bytes;
static struct code_range runtime;
static void* (*make)(size_t);

static void hold(void* p) {
  memset(p, count % 251, bytes);
  held[count++] = p;
}

static void check(void) {
  for (int i = 0; i < count; ++i)
    for (size_t k = 0; k < bytes; ++k)
      if (held[i][k] != i % 251) _exit(1);
}

static void* last_held(void) { return held[--count]; }

static void on_trap(int number, siginfo_t* info, void* context) {
  uintptr_t at = stepped_to(context);
  int status;
  (void)number, (void)info;
  if (at < runtime.begin || at >= runtime.end) return;
  ++copies;
  pid_t pid = _Fork();
  if (pid > 0) {
    waitpid(pid, &status, 0);
    if (status == 0) return;
    if (++failed <= 5)
      fprintf(stderr, "%s at %lx\n", status == 256 ? "twice" : "died", at - runtime.bias);
    return;
  }
  is_copy = 1;
  alarm(20);
  step_no_more(context);
  void *p = make(bytes), *q = make(bytes);
  memset(p, 0xEE, bytes);
  memset(q, 0xDD, bytes);
  free(q);
  free(p);
}

// In a copy: whatever is given out from now on is nobody else's.
static void finish_copy(void) {
  if (!is_copy) return;
  check();
  for (int i = 0; i < extra; ++i) hold(make(bytes));
  check();
  for (int i = 0; i < extra; ++i) free(last_held());
  for (int i = 0; i < extra; ++i) hold(make(bytes));
  check();
  _exit(0);
}

static void stepped_make(void) {
  start_stepping();
  void* p = make(bytes);
  stop_stepping();
  hold(p);
  finish_copy();
}

static void stepped_free(void) {
  void* p = last_held();
  start_stepping();
  free(p);
  stop_stepping();
  finish_copy();
}

// Up to the point where the next block comes from a new chunk.
static void fill_chunk(void) {
  for (;;) {
    int status;
    pid_t pid = _Fork();
    if (pid == 0) _exit(labs((char*)make(bytes) - (char*)held[count - 1]) != (long)bytes);
    waitpid(pid, &status, 0);
    if (status != 0) return;
    hold(make(bytes));
  }
}

static void* hold_in_thread(void* unused) {
  hold(make(bytes));
  return unused;
}

static void interrupt_first(void) {
  make = right_make;
  stepped_make();
}

static void interrupt_fresh_memory(void) {
  hold(make(bytes));
  stepped_make();
  make = left_make;
  hold(make(bytes));
  stepped_make();
}

static void interrupt_lists(void) {
  pthread_t thread;
  for (int i = 0; i < 20; ++i) hold(make(bytes));
  stepped_free();
  for (int i = 0; i < 5; ++i) free(last_held());
  stepped_make();
  stepped_free();
  pthread_create(&thread, NULL, hold_in_thread, NULL);
  pthread_join(thread, NULL);
  stepped_free();
}

static void interrupt_new_chunk(void) {
  bytes = large;
  make = right_make;
  hold(make(bytes));
  fill_chunk();
  stepped_make();
}

int main(int argc, char** argv) {
  const char* what = argc == 2 ? argv[1] : "";
  watchdog(100);
  runtime = runtime_range();
  step_into(on_trap);
  bytes = small;
  make = near_make;
  if (strcmp(what, "first") == 0) interrupt_first();
  if (strcmp(what, "fresh memory") == 0) interrupt_fresh_memory();
  if (strcmp(what, "lists") == 0) interrupt_lists();
  if (strcmp(what, "new chunk") == 0) interrupt_new_chunk();
  printf("%s, %d failed\n", copies > 20 ? "many signals" : "no signals", failed);
}
