// The value of HALO_PLAN for the program's children.
#pragma once

#include "runtime/base/exported.h"

namespace halo::runtime {

// Sets the plan's absolute path, so that children find it from any directory.
HALO_HIDDEN void name_plan_to_children(const char* path);

// Removes the unusable plan, which has been reported once, from the children's environment.
HALO_HIDDEN void hide_plan_from_children();

}  // namespace halo::runtime
