// Calls of the allocator that another library has taken over, by writing to the slots of other
// modules (profilers and injectors) or by standing before the runtime in the list of preloads.
#pragma once

namespace halo::runtime {

// The library to which an allocating call of a module of the plan leads, instead of to the runtime:
// its path in a static buffer. Then that library is the caller of malloc, which the plan does not
// know. Null if there is none. Takes the lock of the linker's list; one thread at a time.
const char* taker_of_calls();

}  // namespace halo::runtime
