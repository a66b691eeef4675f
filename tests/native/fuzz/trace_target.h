// Traces, good and bad, through the reader and the table of sites; any events through packing.
#pragma once

#include "fuzz/driver.h"

namespace halo::fuzz {

// The first byte of an input says what the rest is: a trace, a trace whose checksums are made right
// first, the sections of a module, or events.
extern const Target trace_target;

}  // namespace halo::fuzz
