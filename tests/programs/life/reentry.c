// A signal between any two instructions of the runtime, whose handler allocates and frees at the
// same sites.
//
// Each time a forked copy of the process takes the signal, continues, and checks that no block was
// served twice. In calls with very many instructions, copies are made only at a regular distance.
// Inside the dynamic linker, with which a copy could not continue, the handler runs in the process
// itself. The argument names the interrupted operation; for the dynamic linker, a library of twin.c
// follows.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime_range.h"
#include "sites.h"
#include "stepping.h"
#include "watchdog.h"

enum { max_held = 4000, extra = 64, small = object_bytes, large = 4000 };
enum { max_copies = 400, loose_blocks = 500 };
static unsigned char* held[max_held];
static int count, is_copy, copies, failed;
static size_t bytes;
static struct code_range runtime;
static void* (*make)(size_t);
static long steps, distance = 1;  // executed instructions of the runtime; distance of two copies
static int only_counting, in_place, forwarded;
static int may_forward;  // a heap is being changed, so handlers forward
static void* loose[loose_blocks];

static void hold(void* p) {
  memset(p, count % 251, bytes);
  held[count++] = p;
}

static void check(void) {
  for (int i = 0; i < count; ++i)
    if (held[i][0] != i % 251 || memcmp(held[i], held[i] + 1, bytes - 1) != 0) _exit(1);
}

static void* last_held(void) { return held[--count]; }

static void use_in_handler(void) {
  void *p = make(bytes), *q = make(bytes);
  forwarded += !may_forward && (!is_grouped(p) || !is_grouped(q));
  memset(p, 0xEE, bytes);
  memset(q, 0xDD, bytes);
  free(q);
  free(p);
}

static void on_trap(int number, siginfo_t* info, void* context) {
  uintptr_t at = stepped_to(context);
  int status;
  (void)number, (void)info;
  if (at < runtime.begin || at >= runtime.end) return;
  if (++steps % distance != 0 || only_counting) return;
  ++copies;
  if (in_place) {
    use_in_handler();
    if (copies % 16 == 0 && count < max_held) hold(make(bytes));
    return;
  }
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
  use_in_handler();
}

// In a copy: every block served from now on must be new.
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

static void stepped(void (*call)(int), int argument) {
  start_stepping();
  call(argument);
  stop_stepping();
}

struct measured {
  long time[2 * loose_blocks], steps;
};

static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}

// In a copy: the time of each call at full speed, as the minimum of several copies.
static void time_calls(struct measured* measured, void (*call)(int), int calls) {
  int status;
  pid_t pid = _Fork();
  if (pid == 0) {
    for (int i = 0; i < calls; ++i) {
      long begin = now(), taken;
      call(i);
      taken = now() - begin;
      if (measured->time[i] == 0 || taken < measured->time[i]) measured->time[i] = taken;
    }
    _exit(0);
  }
  waitpid(pid, &status, 0);
  if (status != 0) abort();
}

// In a copy: the number of the runtime's instructions in a call.
static void count_steps(struct measured* measured, void (*call)(int), int argument) {
  int status;
  pid_t pid = _Fork();
  if (pid == 0) {
    only_counting = 1;
    steps = 0;
    stepped(call, argument);
    measured->steps = steps;
    _exit(0);
  }
  waitpid(pid, &status, 0);
  if (status != 0) abort();
}

// Interrupts the longest of some calls, which copies determine in advance. Afterwards all calls
// have run.
static void step_longest(void (*call)(int), int calls) {
  struct measured* measured =
      mmap(NULL, sizeof *measured, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int longest = 0;
  for (int i = 0; i < 3; ++i) time_calls(measured, call, calls);
  for (int i = 0; i < calls; ++i)
    if (measured->time[i] > measured->time[longest]) longest = i;
  for (int i = 0; i < longest; ++i) call(i);
  count_steps(measured, call, longest);
  distance = 1 + measured->steps / max_copies;
  steps = 0;
  stepped(call, longest);
  finish_copy();
  for (int i = longest + 1; i < calls; ++i) call(i);
}

// Until the next block is on a new page.
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

static void clear_one(int unused) {
  (void)unused;
  hold(cleared_make(bytes));
}

static void interrupt_calloc(void) {
  for (int i = 0; i < 20; ++i) hold(make(bytes));
  for (int i = 0; i < 10; ++i) free(last_held());
  step_longest(clear_one, 40);
}

// To another size of the group, and out of the group.
static void resize_one(int at) {
  static const size_t sizes[] = {64, 24, 9000, 40};
  unsigned char* p = resized(held[at], sizes[at % 4]);
  size_t kept = sizes[at % 4] < bytes ? sizes[at % 4] : bytes;
  for (size_t k = 7; k < kept; ++k)
    if (p[k] != at % 251) _exit(1);
  held[at] = resized(p, bytes);
  memset(held[at], at % 251, bytes);
}

static void interrupt_realloc(void) {
  for (int i = 0; i < 40; ++i) hold(make(bytes));
  for (int i = 0; i < 4; ++i) step_longest(resize_one, 40);
}

static void* free_loose(void* unused) {
  for (int i = 0; i < loose_blocks; ++i) free(loose[i]);
  return unused;
}

static void hold_one(int unused) {
  (void)unused;
  hold(make(bytes));
}

static void make_loose(void) {
  for (int i = 0; i < loose_blocks; ++i) {
    loose[i] = make(bytes);
    hold(make(bytes));
  }
}

// Collects another thread's remote frees.
static void interrupt_remote_frees(void) {
  pthread_t thread;
  make_loose();
  pthread_create(&thread, NULL, free_loose, NULL);
  pthread_join(thread, NULL);
  step_longest(hold_one, 2 * loose_blocks);
}

static void drop_loose(int at) { free(loose[at]); }

// Every other block of some mebibytes is freed, and reused.
static void interrupt_reuse(void) {
  bytes = large;
  make_loose();
  step_longest(drop_loose, loose_blocks);
  step_longest(hold_one, loose_blocks);
}

static const char* twin;

static void open_twin(int unused) {
  void* handle = dlopen(twin, RTLD_NOW);
  void* (*left)(size_t) = (void* (*)(size_t))dlsym(handle, "twin_left");
  (void)unused;
  may_forward = 1;
  for (int i = 0; i < 5; ++i) hold(left(bytes));
  for (int i = 0; i < 5; ++i) hold(make(bytes));
  may_forward = 0;
  dlclose(handle);
  may_forward = 1;
  hold(make(bytes));
  may_forward = 0;
}

// The handler's frames are on a separate stack, where they look like calls that have returned.
static void handle_elsewhere(void) {
  stack_t stack = {.ss_size = 1 << 20};
  stack.ss_sp =
      mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (sigaltstack(&stack, NULL) != 0) abort();
}

static void interrupt_opening(void) {
  in_place = 1;
  make = left_make;
  for (int i = 0; i < 2; ++i) stepped(open_twin, i);
  // A known context stays known while modules are loaded and unloaded.
  printf("contexts %s, ", forwarded * 100 <= copies ? "stay known" : "are lost");
  check();
  for (int i = 0; i < extra; ++i) hold(make(bytes));
  check();
}

static void train(void) {
  void* (*const makers[])(size_t) = {near_make, left_make, right_make};
  for (int i = 0; i < 3; ++i) {
    make = makers[i];
    open_twin(0);
    use_in_handler();
  }
}

int main(int argc, char** argv) {
  const char* what = argc >= 2 ? argv[1] : "";
  twin = argc == 3 ? argv[2] : NULL;
  watchdog(100);
  runtime = runtime_range();
  step_into(on_trap);
  bytes = small;
  make = near_make;
  if (strcmp(what, "first") == 0) interrupt_first();
  if (strcmp(what, "fresh memory") == 0) interrupt_fresh_memory();
  if (strcmp(what, "lists") == 0) interrupt_lists();
  if (strcmp(what, "new chunk") == 0) interrupt_new_chunk();
  if (strcmp(what, "calloc") == 0) interrupt_calloc();
  if (strcmp(what, "realloc") == 0) interrupt_realloc();
  if (strcmp(what, "remote frees") == 0) interrupt_remote_frees();
  if (strcmp(what, "reuse") == 0) interrupt_reuse();
  if (strcmp(what, "opening") == 0) interrupt_opening();
  if (strcmp(what, "opening, on a signal stack") == 0) handle_elsewhere(), interrupt_opening();
  if (strcmp(what, "train") == 0) train();
  check();
  printf("%s, %d failed\n", copies > 20 ? "many signals" : "no signals", failed);
}
