// Valid and damaged plans through the loader, the walk and the heaps.
#pragma once

#include "fuzz/driver.h"

namespace halo::fuzz {

extern const Target kPlanTarget;

}  // namespace halo::fuzz
