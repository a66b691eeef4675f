// One set of counters, which all workers share.
#include "counters/statistics.h"

#include <stdatomic.h>

typedef struct Statistics {
  _Atomic uint64_t look_ups;
  _Atomic uint64_t misses;
} Statistics;

static Statistics statistics;

void count_look_up(unsigned worker) {
  (void)worker;
  atomic_fetch_add_explicit(&statistics.look_ups, 1, memory_order_relaxed);
}

void count_miss(unsigned worker) {
  (void)worker;
  atomic_fetch_add_explicit(&statistics.misses, 1, memory_order_relaxed);
}

Totals statistics_totals(void) { return (Totals){statistics.look_ups, statistics.misses}; }
