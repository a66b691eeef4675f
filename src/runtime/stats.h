// What HALO_STATS asks for: one JSON object, written as the process exits.
#pragma once

#include <cstddef>

namespace halo::runtime {

// Writes the statistics of all groups to `path`, in which %p stands for the process id. `reason`
// says why the runtime is inactive, or is null. Allocates nothing; gives up silently.
void write_stats(const char* path, const char* reason, std::size_t groups);

}  // namespace halo::runtime
