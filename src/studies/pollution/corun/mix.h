// Several programs on one last-level cache: their streams, merged by modelled cycle.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/machine.h"
#include "studies/pollution/corun/frames.h"
#include "studies/pollution/corun/stream.h"

namespace halo::corun {

// Of a program up to its first end, in cycles of its own clock with the costs of the last level.
struct ProgramResult {
  uint64_t cycles = 0;
  uint64_t accesses = 0;  // requests for lines, without write-backs
  uint64_t misses = 0;    // of them
  uint64_t fetches = 0;   // accesses whose line a private level has afterwards
  uint64_t demands = 0;   // accesses of the program that waited for the last level; one to two
                          // lines counts once, by the later line
  uint64_t missed_demands = 0;
  uint64_t runs = 0;  // ends until the mix ended
};

// The colours of a machine whose restricted range is the first eighth. Throws
// std::invalid_argument with one sentence if it has no shared last level, or if its colours are not
// a power of two.
Colours colours_of(const simulator::Machine& machine);

// Runs the programs until each has ended once; one that ends earlier begins again, in other frames.
// `confined`: for each program and owner. Streams must be of the machine's private levels, which
// the caller has checked.
std::vector<ProgramResult> run_mix(const simulator::Machine& machine, const Colours& colours,
                                   const std::vector<const Stream*>& programs,
                                   const std::vector<std::vector<bool>>& confined, uint64_t seed);

}  // namespace halo::corun
