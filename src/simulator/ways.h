// The operations of an access on the ways of a set, which dominate the cost of a simulated miss.
#pragma once

#include <cstdint>
#include <vector>

namespace halo::simulator {

// A block's name, of 31 bits and not 0, above the dirty bit. 0: no block.
using Entry = uint32_t;
inline constexpr Entry kDirty = 1;
inline constexpr uint32_t kEndOfNames = 1u << 31;

// The entries of a set start at a multiple of this; entries behind its ways, up to the next
// multiple, are 0.
inline constexpr uint32_t kLanes = 16;

// The entries of a set are in the order of use, the most recently used first. Look-ups ignore the
// dirty bit.
struct WayOperations {
  // The way of an entry; `ways` if it is not in the set.
  uint32_t (*find)(const Entry* set, uint32_t ways, Entry entry);
  // Moves the entry to the front; it is dirty if it was or `entry` is. Returns false if it is not
  // in the set.
  bool (*touch)(Entry* set, uint32_t ways, Entry entry);
  // Inserts a new entry at the front. Returns the last one, which drops out.
  Entry (*insert)(Entry* set, uint32_t ways, Entry entry);
};

// All variants that this processor can run, the fastest last; they are equivalent.
std::vector<WayOperations> configs_here();
WayOperations ways_here();

}  // namespace halo::simulator
