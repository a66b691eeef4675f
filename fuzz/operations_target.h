// Sequences of operations on the runtime's core, in this process.
#pragma once

#include "fuzz/driver.h"

namespace halo::fuzz {

extern const Target kOperationsTarget;

}  // namespace halo::fuzz
