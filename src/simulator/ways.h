// Finds a block among the ways of a set: what a simulated miss spends most of its time with.
#pragma once

#include <cstdint>

namespace halo::simulator {

// Sets are this many entries apart, or a multiple of it; an entry of 0 is none.
inline constexpr uint32_t kWaysAtOnce = 8;

// The first of `count` entries, a multiple of kWaysAtOnce, that is `wanted` but for bit 0, which is
// set in `wanted`; `count` where there is none.
using FindWay = uint32_t (*)(const uint64_t* set, uint32_t count, uint64_t wanted);

uint32_t find_way_plainly(const uint64_t* set, uint32_t count, uint64_t wanted);

// The fastest that this processor can run.
FindWay find_way_here();

}  // namespace halo::simulator
