// What is simulated: the shapes of the caches and TLBs of a machine, and what a miss costs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/cache.h"

namespace halo::simulator {

struct LevelSettings {
  std::string name;
  Shape shape;
  uint32_t cycles = 0;  // more than a hit in the first level, where this one has it
};

// First level first. Line and page are in bytes, powers of two.
struct Machine {
  uint32_t line = 64;
  uint32_t page = 4096;
  std::vector<LevelSettings> caches;
  std::vector<LevelSettings> tlbs;
  uint32_t memory_cycles = 200;  // where no cache has the line
  uint32_t walk_cycles = 30;     // where no TLB has the page
  bool next_line = true;         // prefetch the line behind each miss of the first level
  bool streams = true;  // prefetch into the second level what ascends or descends in a page
};

// The caches of the processor this runs on, as the kernel tells of them, with the TLBs and
// latencies of a present-day server. What is not known is as in typical_machine().
Machine this_machine();

// L1D 32 KiB of 8 ways, L2 1 MiB of 16, last level 32 MiB of 16; DTLB 64 pages of 4 ways, second
// level 1536 of 12.
Machine typical_machine();

// A cache of so many bytes; the number of sets need not be a power of two.
Shape cache_shape(uint64_t bytes, uint32_t ways, uint32_t line);

}  // namespace halo::simulator
