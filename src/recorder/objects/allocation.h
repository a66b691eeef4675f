// An allocation in an object trace.
#pragma once

#include <cstdint>

#include "base/ids.h"

namespace halo::objects {

struct Allocation {
  uint64_t number;  // counts allocations from 1, also those that are not in the trace
  uint64_t address;
  uint32_t size;
  base::ContextId context;
};

}  // namespace halo::objects
