// Leads direct calls of a loaded module through thunks, by changing the four bytes of their
// displacement, whatever other threads do meanwhile.
#pragma once

#include <cstdint>
#include <span>

namespace halo::runtime {

// A call by its return address, and what its thunk is to note.
struct Call {
  std::uintptr_t return_address;
  std::uint32_t site;
  std::uint32_t step;
  bool redirected;  // the result
};

// Redirects what can be of the calls of the module that is loaded at `bias`; the others stay as
// they are. Does nothing again for calls that are redirected already. `module` tells apart modules
// that are loaded at the same place one after the other. One thread at a time.
void redirect_calls(std::uint32_t module, std::uintptr_t bias, std::span<Call> calls);

}  // namespace halo::runtime
