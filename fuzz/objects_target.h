// Object traces through the reader and all that is made of them; candidate plans through the
// parser.
#pragma once

#include "fuzz/driver.h"

namespace halo::fuzz {

// The first byte of an input selects its kind: a file; the operations and operands of a block,
// which are packed first; or a line that describes a candidate.
extern const Target kObjectsTarget;

}  // namespace halo::fuzz
