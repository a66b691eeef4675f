// How a burst treats the system calls of the program.
#pragma once

#include <cstdint>

namespace halo::native {

struct BurstThread;

enum class CallTreatment : uint8_t {
  kEnds,    // the burst is over: the thread makes the call at the program's own place
  kRuns,    // is made in the burst; it does not wait
  kPauses,  // the burst goes on behind it; meanwhile, the program's signals arrive
};

// Of the call that the thread's registers say. `is_of_module` tells whether an address is.
CallTreatment treatment(const BurstThread& thread, bool (*is_of_module)(uint64_t address));

}  // namespace halo::native
