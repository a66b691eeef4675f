// A chain of calls in this program, with recursion, whose frames a plan can contain.
#pragma once

#include <vector>

#include "fuzz/frame.h"
#include "runtime/identify/identifier.h"

namespace halo::fuzz {

// The chain's frames, innermost first.
std::vector<Frame> learn_frames();

// Looks its caller up and walks, from inside that chain, as malloc does.
runtime::Verdict walk_real_stack(const runtime::Table& table);

}  // namespace halo::fuzz
