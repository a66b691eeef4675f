// Redirects direct calls of a loaded module through thunks, by changing the four bytes of their
// displacement while other threads may run the code.
#pragma once

#include <cstdint>
#include <span>

namespace halo::runtime {

// A call, identified by its return address, and the fields that its thunk records.
struct Call {
  uintptr_t return_address;
  uint32_t site;
  uint32_t step;
  bool redirected;  // the result
};

// Redirects the calls of the module loaded at `bias` where possible; the others remain. Calls that
// are redirected already stay as they are. `module` distinguishes modules that are loaded at the
// same address one after the other. One thread at a time.
void redirect_calls(uint32_t module, uintptr_t bias, std::span<Call> calls);

}  // namespace halo::runtime
