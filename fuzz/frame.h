// A stack frame in a plan.
#pragma once

#include <cstdint>

namespace halo::fuzz {

struct Frame {
  uintptr_t address;  // the return address
  int32_t step;       // bytes up to the next one
};

}  // namespace halo::fuzz
