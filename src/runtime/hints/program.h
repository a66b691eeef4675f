// The values of hint rules, computed at a call of the allocator (docs/plan-format.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "plan/hint_format.h"

namespace halo::runtime {

// A call as its callee finds it: the callee-saved registers, in the order of
// HintCode::push_register, and the slot of the return address.
struct CallState {
  const std::uint64_t* registers;
  const std::uintptr_t* slot;
};

// The result of a validated program; nothing if it reads memory that is not readable, or, with
// hint_avoids_frame, the caller's frame through a pointer. `bias` is that of the rule's module.
std::optional<std::uint64_t> run_program(std::span<const plan::HintOperation> program,
                                         const plan::HintRule& rule, std::uintptr_t bias,
                                         const CallState& call);

}  // namespace halo::runtime
