// How far walks went, for HALO_STATS only.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/exported.h"
#include "runtime/identifier.h"

namespace halo::runtime {

inline constexpr std::uint32_t most_steps_counted = 32;

struct WalkCounts {
  std::atomic<std::uint64_t> by_steps[most_steps_counted];  // the last: that many or more
  std::atomic<std::uint64_t> misses;                        // walks that led to no group
};

// Walks and allocations; what is quickly done is not counted, and so not done then.
HALO_HIDDEN extern constinit bool counting_all;
HALO_HIDDEN extern constinit WalkCounts walk_counts;

void count_walk(Verdict verdict);

}  // namespace halo::runtime
