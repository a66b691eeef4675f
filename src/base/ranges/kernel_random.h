// Random numbers that are constant within a process, without a system call.
#pragma once

#include <cstdint>

namespace halo::ranges {

// The random number with index `which`: always the same in one process. It is derived from the
// kernel's AT_RANDOM bytes, which cannot be computed back from it.
uint64_t kernel_random(uint64_t which);

}  // namespace halo::ranges
