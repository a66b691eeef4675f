// What the program's children find in HALO_PLAN.
#pragma once

#include "runtime/exported.h"

namespace halo::runtime {

// The plan at `path` is in use: children find it by its absolute path, wherever they are started.
HALO_HIDDEN void name_plan_to_children(const char* path);

// The plan cannot be used, which has been said once: children find no plan.
HALO_HIDDEN void hide_plan_from_children();

}  // namespace halo::runtime
