// Thunks: the code that a redirected call runs first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::runtime {

inline constexpr size_t kThunkBytes = 192;

// A thunk records the slot of the call's return address and jumps to the call's target. It keeps
// the stack as the call left it, and all registers but r11.
struct Thunk {
  uint32_t site;          // its index in ActiveSites
  uint32_t step;          // of the site, or 0
  int32_t record_offset;  // active_sites_offset()
  uintptr_t target;       // the original target of the call
};

// Writes a thunk of kThunkBytes to `memory`, for execution at `address`. Returns false if the
// target is out of reach.
bool write_thunk(const Thunk& thunk, uint8_t* memory, uintptr_t address);

}  // namespace halo::runtime
