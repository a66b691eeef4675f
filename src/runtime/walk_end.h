// Where the calling thread's own stack ends, so that no walk leaves it, whatever the plan says.
#pragma once

#include <cstdint>

namespace halo::runtime {

// No walk reads at or above this. 0: it has not been looked for yet; the largest number: it is not
// known. Stacks that the program has made itself may lie above it, or below: their ends are not
// known.
extern __thread std::uintptr_t walk_end __attribute__((tls_model("initial-exec")));

// Looks for it, if nobody has, and returns where a walk from `slot` has to end.
std::uintptr_t find_walk_end(const std::uintptr_t* slot);

// In the thread that runs the constructors: its stack ends there.
void know_main_stack_end(std::uintptr_t end);

}  // namespace halo::runtime
