// Statistics for HALO_STATS: the results of each group, at exit or at a signal.
#pragma once

#include <cstdint>

namespace halo::runtime {

// True for the path "1": a human-readable table on stderr.
bool is_human_readable(const char* path);

// Writes the statistics of all groups to `path`, in which %p stands for the process id, as one JSON
// object. `reason` says why the runtime is inactive, or is null; `identification` is the kind of
// identification. Allocates nothing and takes no lock; ignores errors.
void write_stats(const char* path, const char* reason, std::uint32_t groups,
                 const char* identification);

}  // namespace halo::runtime
