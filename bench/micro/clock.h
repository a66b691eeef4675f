// Time, and the middle of several measurements of it.
#pragma once

#include <stdlib.h>
#include <time.h>

static inline double clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

// Time on the wall, for what several threads do together.
static inline double wall_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

// The thread's own time: what others do with the processor in between does not count.
static inline double thread_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

static inline int compare_doubles(const void* a, const void* b) {
  const double left = *(const double*)a;
  const double right = *(const double*)b;
  return (left > right) - (left < right);
}

// Sorts the values.
static inline double median_of(double* values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  return (values[(count - 1) / 2] + values[count / 2]) / 2;
}
