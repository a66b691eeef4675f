// Validates the hint rules of a plan.
#pragma once

#include <cstdint>
#include <span>

#include "plan/hint_format.h"

namespace halo::plan {

struct Hints {
  std::span<const HintRule> rules;
  std::span<const HintKey> keys;
  std::span<const HintOperation> operations;
};

// Checks that programs keep to the stack's depth and leave one value, that frame addresses are
// within the frame, and all other fields. `modules` is how many modules the plan names. Returns
// nullptr, or one sentence that describes the error.
const char* check_hints(const Hints& hints, std::uint32_t modules);

}  // namespace halo::plan
