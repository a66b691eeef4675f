// Policies that decide about every allocation, whatever its caller.
#pragma once

#include <cstdint>

#include "runtime/identify/callers.h"

namespace halo::runtime {

// Such a policy replaces the next allocator behind the exported functions; their own paths stay
// unchanged.
//
// Chooses a group, given a stack address at or just below the caller's return address. Null: no
// policy is set.
using GlobalPolicy = CallerCode (*)(const uintptr_t* slot);
extern constinit GlobalPolicy global_policy;

// Serves every object of at most `max_object` bytes from a random pool (random_pools.h). Called
// once, before other threads exist.
void set_random_pools_policy();

// Likewise, from the plan's only group.
void set_one_group_policy();

// Likewise, from the group that the selectors choose (selectors.h).
void set_selectors_policy();

}  // namespace halo::runtime
