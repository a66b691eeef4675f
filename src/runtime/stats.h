// What HALO_STATS asks for: what became of each group, as the process exits or at a signal.
#pragma once

#include <cstdint>

#include "runtime/exported.h"

namespace halo::runtime {

// Whether they were asked for; set before any group is opened.
HALO_HIDDEN extern constinit bool keeping_stats;

// True for the path "1": a table for people, on stderr.
bool is_for_people(const char* path);

// Writes the statistics of all groups to `path`, in which %p stands for the process id, as one JSON
// object. `reason` says why the runtime is inactive, or is null; `identification` how groups are
// told apart. Allocates nothing and takes no lock; gives up silently.
void write_stats(const char* path, const char* reason, std::uint32_t groups,
                 const char* identification);

}  // namespace halo::runtime
