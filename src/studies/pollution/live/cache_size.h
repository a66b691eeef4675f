// The size of the last-level cache.
#pragma once

#include <cstdint>

namespace halo::watching {

// In bytes, as the kernel reports it; 8 MiB if it does not.
uint64_t last_level_bytes();

}  // namespace halo::watching
