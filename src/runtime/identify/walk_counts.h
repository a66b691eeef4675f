// Counters of walks for HALO_STATS.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/exported.h"
#include "runtime/identify/identifier.h"

namespace halo::runtime {

inline constexpr uint32_t kMaxStepsCounted = 32;

struct WalkCounts {
  std::atomic<uint64_t> by_steps[kMaxStepsCounted];  // the last one counts all longer walks
  std::atomic<uint64_t> misses;                      // walks that reached no group
};

// Whether walks and allocations are counted; the fast paths, which count nothing, are then
// disabled.
HALO_HIDDEN extern constinit bool counting_all;
HALO_HIDDEN extern constinit WalkCounts walk_counts;

void count_walk(Verdict verdict);

}  // namespace halo::runtime
