// What the workers have done so far, for whoever wants to know.
#pragma once

#include <stdint.h>

enum { kMostWorkers = 64 };

typedef struct Totals {
  uint64_t look_ups;
  uint64_t misses;
} Totals;

// Both may be called by any number of threads at once; workers are numbered from 0.
void count_look_up(unsigned worker);
void count_miss(unsigned worker);
Totals statistics_totals(void);
