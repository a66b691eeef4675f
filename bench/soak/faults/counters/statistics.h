// The workers' counters.
#pragma once

#include <stdint.h>

enum { kMaxWorkers = 64 };

typedef struct Totals {
  uint64_t look_ups;
  uint64_t misses;
} Totals;

// Any number of threads may call both concurrently; workers are numbered from 0.
void count_look_up(unsigned worker);
void count_miss(unsigned worker);
Totals statistics_totals(void);
