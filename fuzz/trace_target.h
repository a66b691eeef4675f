// Valid and damaged traces through the reader and the table of sites; any events through packing.
#pragma once

#include "fuzz/driver.h"

namespace halo::fuzz {

// The first byte of an input selects its kind: a trace, a trace whose checksums are updated first,
// the sections of a module, or events.
extern const Target kTraceTarget;

}  // namespace halo::fuzz
