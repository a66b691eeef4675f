// Restartable sequences (man 2 rseq), which the kernel restarts only at their own place.
#pragma once

#include <cstdint>

namespace halo::native {

// Whether the descriptor of a sequence is there that begins close behind the code. The program
// takes its address, and tells it to the kernel, just before the sequence.
bool begins_sequence(uint64_t descriptor, uint64_t code);

}  // namespace halo::native
