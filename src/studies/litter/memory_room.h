// The amount of memory that this process may still allocate before the kernel kills a process.
#pragma once

#include <cstdint>

namespace halo::litter {

// In bytes: the minimum of the machine's available memory, the rest of the control group's, and the
// rest of the limits on address space and data. UINT64_MAX if none is known.
uint64_t memory_room();

}  // namespace halo::litter
