// What an access does to the ways of a set: a simulated miss spends most of its time with it.
#pragma once

#include <cstdint>
#include <vector>

namespace halo::simulator {

// A block's name, of 31 bits and not 0, above a bit that says whether it is dirty. 0: none.
using Entry = uint32_t;
inline constexpr Entry kDirty = 1;
inline constexpr uint32_t kEndOfNames = 1u << 31;

// A set begins at a multiple of so many entries; up to the next multiple behind its ways, all is 0.
inline constexpr uint32_t kLanes = 16;

// The entries of a set are in the order of use, the most recently used first. Where one is looked
// for, whether it is dirty does not matter.
struct WayOperations {
  // The way of an entry; `ways` where it is not there.
  uint32_t (*find)(const Entry* set, uint32_t ways, Entry entry);
  // Moves the entry to the front, dirty if it was or now is. False where it is not there.
  bool (*touch)(Entry* set, uint32_t ways, Entry entry);
  // Puts an entry that is not there at the front. Returns the last one, which no longer is there.
  Entry (*insert)(Entry* set, uint32_t ways, Entry entry);
};

// All that this processor can run; they do the same, the last one fastest.
std::vector<WayOperations> all_ways_here();
WayOperations ways_here();

}  // namespace halo::simulator
