// The code that a redirected call goes through: it notes where the call's return address lies, and
// jumps on. The stack is as the call has left it, and so are all registers but r11.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::runtime {

inline constexpr std::size_t thunk_bytes = 192;

struct Thunk {
  std::uint32_t site;          // its place in ActiveSites
  std::uint32_t step;          // of the site, or 0
  std::int32_t record_offset;  // active_sites_offset()
  std::uintptr_t target;       // where the call led before
};

// Writes a thunk to `memory`, of thunk_bytes, for execution at `address`. False where the target is
// out of its reach.
bool write_thunk(const Thunk& thunk, std::uint8_t* memory, std::uintptr_t address);

}  // namespace halo::runtime
