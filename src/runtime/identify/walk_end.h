// The end of the calling thread's own stack, so that no walk leaves it even if the plan is wrong.
#pragma once

#include <cstdint>

namespace halo::runtime {

// Walks read below this address only. 0: not determined yet; UINTPTR_MAX: unknown. A stack that the
// program allocated itself may be above or below it; the ends of such stacks are unknown.
extern __thread uintptr_t walk_end __attribute__((tls_model("initial-exec")));

// Determines it if necessary, and returns the end of a walk from `slot`.
uintptr_t find_walk_end(const uintptr_t* slot);

// Called in the thread that runs the constructors; its stack ends at `end`.
void set_main_stack_end(uintptr_t end);

}  // namespace halo::runtime
