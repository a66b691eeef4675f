// The values of hint rules, computed at a call of the allocator (docs/plan-format.md).
#pragma once

#include <cstdint>
#include <span>

#include "plan/hint_format.h"

namespace halo::runtime {

// A call as its callee finds it: the callee-saved registers, in the order of
// HintCode::push_register, and the slot of the return address.
struct CallState {
  const std::uint64_t* registers;
  const std::uintptr_t* slot;
};

// Whether the 8 bytes from the address on reach into the caller's frame.
inline bool is_in_frame(std::uintptr_t address, const plan::HintRule& rule, const CallState& call) {
  const auto bottom = reinterpret_cast<std::uintptr_t>(call.slot + 1);
  return address + sizeof(std::uint64_t) > bottom && address < bottom + rule.frame_bytes;
}

// Gives the result of a validated program; false, and none, if it reads memory that is not
// readable, or, with hint_avoids_frame, the caller's frame through a pointer. `bias` is that of the
// rule's module. Operations on reals depend on the floating-point environment, and change it.
bool run_program(std::span<const plan::HintOperation> program, const plan::HintRule& rule,
                 std::uintptr_t bias, const CallState& call, std::uint64_t& result);

}  // namespace halo::runtime
