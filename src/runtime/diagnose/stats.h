// Statistics for HALO_STATS: the results of each group, at exit or at a signal.
#pragma once

#include <cstdint>

namespace halo::runtime {

// True for the path "1": a human-readable table on stderr.
bool is_human_readable(const char* path);

// The state of the process.
struct Activity {
  const char* reason;          // why the runtime is inactive, or null
  const char* identification;  // the kind of identification
  const char* taker;           // the library that has taken calls of the allocator, or null
};

// Writes the statistics of all groups to `path`, in which %p stands for the process id, as one JSON
// object. Allocates nothing and takes no lock; ignores errors.
void write_stats(const char* path, const Activity& activity, uint32_t groups);

}  // namespace halo::runtime
