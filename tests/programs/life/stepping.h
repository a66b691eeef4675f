// Runs code one machine instruction at a time, with a SIGTRAP after each.
#pragma once

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

enum { trap_flag = 0x100 };

// Keeps the red zone.
#define STEPPING(operation)                                         \
  __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" operation \
                   ", (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" :: \
                       : "memory", "cc")

static inline void start_stepping(void) { STEPPING("orq $0x100"); }
static inline void stop_stepping(void) { STEPPING("andq $~0x100"); }

static inline uintptr_t stepped_to(const void* context) {
  return (uintptr_t)((const ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
}

// From a handler: the interrupted code continues at full speed.
static inline void step_no_more(void* context) {
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)trap_flag;
}

// On the thread's signal stack, if it has one.
static inline void step_into(void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGTRAP, &action, NULL);
}
