// The counters of walks.
#include "runtime/identify/walk_counts.h"

namespace halo::runtime {

constinit bool counting_all = false;
constinit WalkCounts walk_counts{};

void count_walk(Verdict verdict) {
  const uint32_t steps = verdict.steps < max_steps_counted ? verdict.steps : max_steps_counted - 1;
  walk_counts.by_steps[steps].fetch_add(1, std::memory_order_relaxed);
  if (verdict.group == plan::verdict_forward)
    walk_counts.misses.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace halo::runtime
