// Fifty coroutines on small stacks with guard pages, a signal handler on a separate stack, and a
// switch to a stack of one page. All allocate, and free blocks of others.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "foreign_stack.h"
#include "sites.h"
#include "watchdog.h"

enum { coroutines = 50, turns = 40, stack_bytes = 16384, small_bytes = 4096, signals = 300 };
static ucontext_t back, contexts[coroutines];
static void* shared[coroutines];
static int grouped;

static void exchange(int at) {
  void* p = at % 3 == 0   ? near_make(object_bytes)
            : at % 3 == 1 ? left_make(object_bytes)
                          : right_make(object_bytes);
  grouped += is_grouped(p);
  free(shared[at % coroutines]);
  shared[at % coroutines] = p;
}

static void run(int number) {
  for (int turn = 0; turn < turns; ++turn) {
    exchange(number + turn * 7);
    swapcontext(&contexts[number], &back);
  }
}

static void by_ucontext(void) {
  char* stacks[coroutines];
  for (int i = 0; i < coroutines; ++i) {
    stacks[i] = make_stack(stack_bytes);
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = stacks[i];
    contexts[i].uc_stack.ss_size = stack_bytes;
    contexts[i].uc_link = &back;
    makecontext(&contexts[i], (void (*)(void))run, 1, i);
  }
  for (int turn = 0; turn <= turns; ++turn)
    for (int i = 0; i < coroutines; ++i) swapcontext(&back, &contexts[i]);
  for (int i = 0; i < coroutines; ++i) drop_stack(stacks[i], stack_bytes);
}

static void on_signal(int number) { exchange(number); }

static void by_signal(void) {
  stack_t alternative = {.ss_sp = make_stack(65536), .ss_size = 65536};
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  sigaltstack(&alternative, NULL);
  sigaction(SIGUSR1, &action, NULL);
  for (int i = 0; i < signals; ++i) raise(SIGUSR1);
}

static void on_switch(void* at) { exchange((int)(size_t)at); }

static void by_hand(void) {
  char* stack = make_stack(small_bytes);
  for (size_t i = 0; i < coroutines * turns; ++i) call_on(stack + small_bytes, on_switch, (void*)i);
}

int main(void) {
  watchdog(60);
  // First, so that a thread's first grouped allocation also happens on one page of stack.
  by_hand();
  by_ucontext();
  by_signal();
  printf("%d of %d grouped\n", grouped, 2 * coroutines * turns + signals);
}
