// The call frames between instrumented code and an allocation, which no event reports.
#pragma once

#include <cstdint>
#include <span>

#include "tracing/format/logged.h"

namespace halo::logging {

// Writes kFrame records, outermost first, to the end of `room`, and returns the used part. They
// cover the frames above the call whose return address is at `slot`, up to two adjacent
// instrumented frames. Empty if the stack cannot be walked.
std::span<trace::Logged> uninstrumented_frames(uint64_t slot, std::span<trace::Logged> room);

}  // namespace halo::logging
