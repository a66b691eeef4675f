// The costs of misses, in cycles beyond a hit in the first level (docs/simulator.md);
// halo/record/simulation/latencies.py is generated from this file.
#pragma once

#include <cstdint>

namespace halo::simulator {

inline constexpr uint32_t kCacheCycles[] = {0, 12, 45, 70};  // by level
inline constexpr uint32_t kMemoryCycles = 200;               // no cache has the line
inline constexpr uint32_t kTlbCycles[] = {0, 1, 1, 1};       // by level
inline constexpr uint32_t kWalkCycles = 8;                   // no TLB has the page

}  // namespace halo::simulator
