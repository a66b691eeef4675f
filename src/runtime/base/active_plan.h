// The plan of this process.
#pragma once

#include "plan/plan_file.h"
#include "runtime/base/exported.h"

namespace halo::runtime {

// Empty without a plan. Set before anything else of the runtime uses it, and never changed again.
HALO_HIDDEN inline constinit plan::PlanView active_plan;

}  // namespace halo::runtime
