// Blocks that were allocated by a key lately, so that one that is freed serves the same key again.
#pragma once

#include <cstdint>

#include "tidy/page.h"

namespace halo::tidy {

// A program may allocate and free an object with the same hint again and again. So a freed block
// stays used in the heap for a while, and a request with its key and size gets it without the heap.
// At most kEntries blocks are kept so.
//
// Each block has one place in the table, so all frees must look it up here first. Not for several
// threads at once.
class RecentBlocks {
 public:
  static constexpr Place kNoPlace = UINT64_MAX;

  // A kept block that had this key and size; kNoPlace if there is none.
  Place take(uint64_t key, uint32_t bytes) {
    Entry& entry = entries_[sought_[slot_of(key)].entry];
    if (!entry.is_free || entry.key != key || entry.bytes != bytes) return kNoPlace;
    entry.is_free = false;
    return entry.place;
  }

  // A block was allocated. Its key is noted if it was sought lately: keys that are all different
  // are left to the heap. Returns another block that is not kept any more, for the heap to free.
  Place add(Place place, uint64_t key, uint32_t bytes) {
    const uint32_t key_slot = slot_of(key);
    Sought& sought = sought_[key_slot];
    if (sought.key != key) {
      sought.key = key;
      return kNoPlace;
    }
    Entry& entry = entries_[slot_of(place)];
    const Place before = entry.is_free ? entry.place : kNoPlace;
    entry = {key, place, bytes, false, static_cast<uint8_t>(key_slot)};
    return before;
  }

  enum class Freed : uint8_t { kKept, kTwice, kUnknown };
  // Keeps the block that is freed, unless it is kept already, or unknown: the heap has to free it.
  Freed put(Place place) {
    const uint32_t slot = slot_of(place);
    Entry& entry = entries_[slot];
    if (entry.place != place) return Freed::kUnknown;
    if (entry.is_free) return Freed::kTwice;
    entry.is_free = true;
    // Not written without need: the next request would wait for it.
    uint32_t& newest = sought_[entry.key_slot].entry;
    if (newest != slot) newest = slot;
    return Freed::kKept;
  }

  // The next entry in a cycle is given up. Returns its block if it was kept, for the heap to free.
  Place drop_next() {
    Entry& entry = entries_[next_++ % kEntries];
    if (!entry.is_free) return kNoPlace;
    const Place place = entry.place;
    entry = {};
    return place;
  }

  static constexpr uint32_t kEntries = 64;

 private:
  // What is known of a block, or of none.
  struct Entry {
    uint64_t key = 0;
    Place place = kNoPlace;  // of a block that is used in the heap
    uint32_t bytes = 0;
    bool is_free = false;  // kept: the program has freed it
    uint8_t key_slot = 0;  // where the key was sought
  };

  struct Sought {
    uint64_t key;    // the last one with this slot
    uint32_t entry;  // of the last freed block whose key has this slot
  };

  static uint32_t slot_of(uint64_t bits) {
    constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
    static_assert(kEntries == 1u << 6);
    return static_cast<uint32_t>(bits * kMultiplier >> (64 - 6));
  }

  Entry entries_[kEntries];    // by place
  Sought sought_[kEntries]{};  // by key
  uint32_t next_ = 0;
};

}  // namespace halo::tidy
