// The simulated machine: the shapes of its caches and TLBs, and the costs of misses.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "simulator/cache.h"
#include "simulator/latencies.h"

namespace halo::simulator {

struct LevelSettings {
  std::string name;
  Shape shape;
  uint32_t cycles = 0;  // beyond a hit in the first level, if this level has the line
};

// First level first. Line and page sizes are in bytes, powers of two.
struct Machine {
  uint32_t line = 64;
  uint32_t page = 4096;
  std::vector<LevelSettings> caches;
  std::vector<LevelSettings> tlbs;
  Shape huge_tlb;  // the first TLB level's for huge pages of 2 MiB; 0 sets: none
  uint32_t memory_cycles = kMemoryCycles;  // if no cache has the line
  uint32_t walk_cycles = kWalkCycles;      // if no TLB has the page
  bool next_line = true;                   // prefetch the line behind each miss of the first level
  bool streams = true;  // prefetch ascending and descending streams of a page into the second level

  static constexpr int kHugeShift = 21;
};

// The caches of this processor, from the kernel, with the TLBs and latencies of a present-day
// server. Unknown values are those of typical_machine().
Machine this_machine();

// L1D 32 KiB, 8 ways; L2 1 MiB, 16 ways; last level 32 MiB, 16 ways. DTLB 64 pages and 32 huge
// pages, 4 ways each; second level 1536 pages, 12 ways.
Machine typical_machine();

// Parses the description of a machine, with these lines in any order:
//
//   line BYTES | page BYTES | memory CYCLES | walk CYCLES
//   cache NAME SETS WAYS CYCLES | tlb NAME SETS WAYS CYCLES    first level first
//   huge SETS WAYS
//   prefetch next-line | prefetch streams
//
// Missing values are as in Machine{}, but without prefetching. Throws std::invalid_argument.
Machine parse_machine(std::istream& text);

// A cache of `bytes` bytes; the number of sets need not be a power of two.
Shape cache_shape(uint64_t bytes, uint32_t ways, uint32_t line);

}  // namespace halo::simulator
