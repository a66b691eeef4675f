// What is simulated: the shapes of the caches and TLBs of a machine, and what a miss costs.
#pragma once

#include <cstdint>
#include <istream>
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
  Shape huge_tlb;                // the first TLB level's for huge pages, of 2 MiB; 0 sets: none
  uint32_t memory_cycles = 200;  // where no cache has the line
  uint32_t walk_cycles = 8;      // where no TLB has the page
  bool next_line = true;         // prefetch the line behind each miss of the first level
  bool streams = true;  // prefetch into the second level what ascends or descends in a page

  static constexpr int kHugeShift = 21;
};

// The caches of the processor this runs on, as the kernel tells of them, with the TLBs and
// latencies of a present-day server. What is not known is as in typical_machine().
Machine this_machine();

// L1D 32 KiB of 8 ways, L2 1 MiB of 16, last level 32 MiB of 16; DTLB 64 pages of 4 ways and 32
// huge ones of 4, second level 1536 of 12.
Machine typical_machine();

// The machine that a text describes, a line each, in any order:
//
//   line BYTES | page BYTES | memory CYCLES | walk CYCLES
//   cache NAME SETS WAYS CYCLES | tlb NAME SETS WAYS CYCLES    first level first
//   huge SETS WAYS
//   prefetch next-line | prefetch streams
//
// What has no line is as in Machine{}, but nothing is prefetched. Throws std::invalid_argument.
Machine parse_machine(std::istream& text);

// A cache of so many bytes; the number of sets need not be a power of two.
Shape cache_shape(uint64_t bytes, uint32_t ways, uint32_t line);

}  // namespace halo::simulator
