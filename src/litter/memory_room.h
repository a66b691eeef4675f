// How much more memory this process may take before somebody is killed for it.
#pragma once

#include <cstdint>

namespace halo::litter {

// Bytes: the least of what the machine has available, what the control group leaves and what the
// limits on address space and data leave. UINT64_MAX where none is known.
std::uint64_t memory_room();

}  // namespace halo::litter
