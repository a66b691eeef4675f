// A set of counters for each worker, side by side: several on one cache line.
#include "counters/statistics.h"

#include <stdatomic.h>

typedef struct Statistics {
  _Atomic uint64_t look_ups;
  _Atomic uint64_t misses;
} Statistics;

static Statistics statistics[kMaxWorkers];

void count_look_up(unsigned worker) {
  atomic_fetch_add_explicit(&statistics[worker].look_ups, 1, memory_order_relaxed);
}

void count_miss(unsigned worker) {
  atomic_fetch_add_explicit(&statistics[worker].misses, 1, memory_order_relaxed);
}

Totals statistics_totals(void) {
  Totals totals = {0, 0};
  for (unsigned worker = 0; worker < kMaxWorkers; ++worker) {
    totals.look_ups += statistics[worker].look_ups;
    totals.misses += statistics[worker].misses;
  }
  return totals;
}
