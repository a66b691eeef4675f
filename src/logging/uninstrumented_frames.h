// The calls between instrumented code and an allocation that no event tells of.
#pragma once

#include <cstdint>
#include <span>

#include "trace/logged.h"

namespace halo::logging {

// kFrame records, outermost first, into the end of `room`: of the frames above the call whose
// return address lies at `slot`, up to where two instrumented frames follow on one another. Nothing
// where the stack cannot be walked. Returns the used part.
std::span<trace::Logged> uninstrumented_frames(uint64_t slot, std::span<trace::Logged> room);

}  // namespace halo::logging
