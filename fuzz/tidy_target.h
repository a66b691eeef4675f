// Requests with hints, and frees, through Tidy's heap.
#pragma once

#include "fuzz/driver.h"

namespace halo::fuzz {

// An input has the settings of a heap, and then operations: allocations with keys of several kinds,
// near others and without keys, frees, and how many pages memory still has.
extern const Target kTidyTarget;

}  // namespace halo::fuzz
