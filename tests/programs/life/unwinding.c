// A profiler that unwinds at every instruction of the runtime: each unwinding must reach the
// program.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime_range.h"
#include "sites.h"
#include "stepping.h"
#include "watchdog.h"

static struct code_range runtime;
static void* caller;
static long inside, lost;
static int briefly;

static void on_trap(int number, siginfo_t* info, void* context) {
  uintptr_t at = stepped_to(context);
  void* frames[64];
  (void)number, (void)info;
  int is_inside = at >= runtime.begin && at < runtime.end;
  inside += is_inside;
  if (briefly && (is_inside ? inside > 200 : inside > 0)) step_no_more(context);
  if (!is_inside) return;
  int count = backtrace(frames, 64), found = 0;
  for (int i = 0; i < count; ++i) found |= frames[i] == caller;
  if (!found && ++lost <= 20) fprintf(stderr, "lost at %lx\n", at - runtime.bias);
}

// Modules loaded or unloaded are scanned now, not during single steps, which would take long.
static void settle(void) { release_block(between(48)); }

// Grouped and forwarded, first of their size and repeated.
static void work(void) {
  void *p[6], *q = NULL;
  for (int round = 0; round < 3; ++round) {
    p[0] = near_make(object_bytes);
    p[1] = left_make(object_bytes);
    p[2] = between(48);
    p[3] = cleared_make(24 + round);
    p[4] = q = resized(q, 100 << round);
    p[5] = malloc(100);
    for (int i = 0; i < 6; ++i)
      if (i != 4) release_block(p[i]);
  }
  release_block(q);
}

static void open_sites(void) { dlopen("libsites.so", RTLD_NOW | RTLD_NOLOAD); }

static void* handle;
static void close_sites(void) { dlclose(handle); }

__attribute__((noipa)) static long stepped(void (*f)(void)) {
  caller = __builtin_return_address(0);
  inside = 0;
  settle();
  start_stepping();
  f();
  stop_stepping();
  return inside;
}

int main(void) {
  void* frames[4];
  watchdog(100);
  backtrace(frames, 4);  // loads the unwinder
  handle = dlopen("libsites.so", RTLD_NOW | RTLD_NOLOAD);
  dlclose(dlopen("libsites.so", RTLD_NOW | RTLD_NOLOAD));
  runtime = runtime_range();
  step_into(on_trap);
  long working = stepped(work);
  briefly = 1;  // the initialisation on the first entry takes long
  long opening = stepped(open_sites), closing = stepped(close_sites);
  int everywhere = working > 500 && opening > 10 && closing > 10;
  printf("%s, lost %ld\n", everywhere ? "unwound" : "never there", lost);
}
