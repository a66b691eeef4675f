// A cell: keys near each other, and the buckets of their objects; and a cluster of such cells.
#pragma once

#include <cstdint>

#include "tidy/leaves.h"
#include "tidy/page.h"

namespace halo::tidy {

// Objects are cut off a run, one behind the other: the unused rest of a bucket, or free blocks
// between used ones. Its parts are buckets.
struct Cell : LeafRecord {
  Place next = 0, end = 0;       // the run; equal: none
  Place freed = 0;               // the last freed block, which its bucket does not count yet
  uint32_t freed_bytes = 0;      // its size; 0: none
  uint32_t partly_free = kNone;  // head of the list of buckets with free blocks, or kNone

  bool has_run() const { return next != end; }
};

// Cells take their buckets from the page of a cluster, so cells near each other share pages. Its
// parts are pages.
struct Cluster : LeafRecord {
  uint32_t page = kNone;   // from which cells take buckets
  uint32_t spare = kNone;  // another one that may have free buckets
};

}  // namespace halo::tidy
