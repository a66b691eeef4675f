// How many mappings a process may still make.
#pragma once

#include <cstdint>

namespace halo::traps {

// `maps` is this process's /proc/self/maps, open. The kernel's limit is vm.max_map_count. Zero if
// either cannot be read.
uint64_t mappings_left(int maps);

}  // namespace halo::traps
