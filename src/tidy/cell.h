// A cell: keys near each other, and the buckets of their objects; and a cluster of such cells.
#pragma once

#include <cstdint>

#include "tidy/directory.h"
#include "tidy/page.h"

namespace halo::tidy {

// Objects are cut off a run, one behind the other: the unused rest of a bucket, or free blocks
// between used ones. An empty run has next == end.
struct Cell {
  KeyRange keys;         // since it was made or split
  Place next, end;       // the run
  Place freed;           // the last freed block, which its bucket does not count yet
  uint32_t freed_bytes;  // its size; 0: none
  uint32_t partly_free;  // head of the list of buckets with free blocks: their number, or kNone
  uint32_t buckets;      // that it has
  uint32_t filled;       // buckets taken since it was made or split
  uint32_t next_free;    // the next unused cell number
  bool in_use;           // the directory has it
};

// Cells take their buckets from the page of a cluster, so cells near each other share pages.
struct Cluster {
  KeyRange keys;
  uint32_t page;       // from which cells take buckets, or kNone
  uint32_t spare;      // another one that may have free buckets, or kNone
  uint32_t pages;      // that it has
  uint32_t filled;     // pages taken since it was made or split
  uint32_t next_free;  // the next unused cluster number
  bool in_use;         // the directory has it
};

}  // namespace halo::tidy
