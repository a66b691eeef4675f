// Policies that decide about every allocation, whatever its caller.
#pragma once

#include <cstdint>

#include "runtime/base/exported.h"
#include "runtime/identify/callers.h"

namespace halo::runtime {

// Such a policy replaces the next allocator behind the exported functions; their own paths stay
// unchanged.
//
// Chooses a group, given a stack address at or just below the caller's return address. Null: no
// policy is set.
using GlobalPolicy = CallerCode (*)(const uintptr_t* slot);
extern constinit GlobalPolicy global_policy;

// Serves every object of at most `max_object` bytes from the plan's only group. Called once, before
// other threads exist.
void set_one_group_policy();

// Of plans that do not use callers: the codes of their groups, which have one layout, but for the
// group.
HALO_HIDDEN inline constinit uint64_t pool_code = kCodeAlign16;
// Whether later blocks are aligned to 16 bytes, and in mixed-size pages.
inline void set_pool_code(bool align16, bool mixed) {
  __atomic_store_n(&pool_code, decided_code(0, align16, mixed), __ATOMIC_RELAXED);
}
inline CallerCode code_of_pools() {
  const uint64_t code = __atomic_load_n(&pool_code, __ATOMIC_RELAXED);
  if (code > (kCodeAlign16 | kCodeMixed)) __builtin_unreachable();
  return static_cast<CallerCode>(code);
}

}  // namespace halo::runtime
