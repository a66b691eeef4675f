// Plans that decide about every allocation, whoever makes it: they take the next allocator's place,
// behind the exported functions, whose own way to it stays as it is.
#pragma once

#include <cstdint>

#include "runtime/callers.h"

namespace halo::runtime {

// What such a plan decides by, given a place on the stack at or just below the caller's return
// address; null: the plan is none.
using DecideEvery = CallerCode (*)(const std::uintptr_t* slot);
extern constinit DecideEvery decide_every;

// From now on every object of at most `max_object` bytes goes to a pool drawn at random
// (random_pools.h). Once, before there are threads.
void draw_every_allocation();

// The same, to the one group of the plan.
void group_every_allocation();

// The same, to the group that selectors tell (selectors.h).
void select_every_allocation();

}  // namespace halo::runtime
