// Numbers that differ from process to process, without a system call.
#pragma once

#include <cstdint>

namespace halo::runtime {

// The number of that name, always the same in one process: made of the random bytes that the kernel
// gave it, which cannot be told from the result.
std::uint64_t kernel_random(std::uint64_t which);

}  // namespace halo::runtime
