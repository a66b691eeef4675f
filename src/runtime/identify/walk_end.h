// The end of the calling thread's own stack, so that no walk leaves it even if the plan is wrong.
#pragma once

#include <cstdint>

namespace halo::runtime {

// Walks read below this address only. 0: not determined yet; UINTPTR_MAX: unknown. A stack that the
// program allocated itself may be above or below it; the ends of such stacks are unknown.
extern __thread uintptr_t walk_end __attribute__((tls_model("initial-exec")));

struct Stack {
  uintptr_t low, high;
};

// The stack of the calling thread, if it is not the first; {0, 0} if the C library has not
// allocated it and does not keep the thread's descriptor there.
//
// glibc stores the mapping of the stack, its size and its guard's size in adjacent words of the
// thread's descriptor. Their offset depends on the version; the descriptor is at the upper end of
// the mapping. pthread_getattr_np would take a lock that the allocating thread may hold.
Stack thread_stack();

// Determines it if necessary, and returns the end of a walk from `slot`.
uintptr_t find_walk_end(const uintptr_t* slot);

// Called in the thread that runs the constructors; its stack ends at `end`.
void set_main_stack_end(uintptr_t end);

}  // namespace halo::runtime
