// Ends a program that hangs.
#pragma once

#include <signal.h>
#include <stdlib.h>
#include <time.h>

static inline void watchdog(int seconds) {
  struct sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGTERM;
  timer_t timer;
  struct itimerspec when = {};
  when.it_value.tv_sec = seconds;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) abort();
  if (timer_settime(timer, 0, &when, NULL) != 0) abort();
}
