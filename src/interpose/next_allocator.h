// The allocator that the interposed functions forward to.
#pragma once

#include "base/bootstrap.h"
#include "base/next_functions.h"

namespace halo::interpose {

// Null only while this thread resolves it (dlsym may allocate): the caller then uses the bootstrap
// arena.
const NextFunctions* next_allocator();

}  // namespace halo::interpose
