// The counters of walks.
#include "runtime/identify/walk_counts.h"

namespace halo::runtime {

constinit bool counting_all = false;
constinit WalkCounts walk_counts{};

void count_walk(Verdict verdict) {
  const uint32_t steps = verdict.steps < kMaxStepsCounted ? verdict.steps : kMaxStepsCounted - 1;
  walk_counts.by_steps[steps].fetch_add(1, std::memory_order_relaxed);
  if (verdict.group == plan::kVerdictForward)
    walk_counts.misses.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace halo::runtime
