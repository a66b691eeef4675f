// The memory of all objects that the runtime has placed: for the statistics, and for the programs
// that ask the next allocator for its own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::runtime {

// Bytes. Each number is at most the next one.
struct GroupedMemory {
  uint64_t live;      // of blocks that the program has; blocks in a cache are not among them
  uint64_t active;    // of memory that blocks were cut from
  uint64_t resident;  // likewise, and of free memory that may not be purged yet
  uint64_t mapped;    // of memory that was opened for any page
};

struct GroupedTotals {
  GroupedMemory blocks;  // of group heaps
  GroupedMemory spans;
  uint64_t span_count;
};

// Any thread, at any time: it takes no lock and allocates nothing. The numbers may be of slightly
// different times while other threads allocate. It reads some words for each group and size class
// that a thread uses.
GroupedTotals grouped_totals();

// The sum of both.
GroupedMemory grouped_memory();

// Returns the calling thread's cached blocks to their pages, and the memory of all free pages to
// the kernel. Returns the number of bytes. It holds a lock of spans for 2 MiB of them at a time.
size_t purge_grouped_memory();

}  // namespace halo::runtime
