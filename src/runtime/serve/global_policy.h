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

HALO_HIDDEN inline constinit uint64_t pool_alignment = kCodeAlign16;  // or 0
// Of plans that do not use callers: whether later blocks are aligned to 16 bytes.
inline void align_pools(bool to_16) {
  __atomic_store_n(&pool_alignment, to_16 ? kCodeAlign16 : 0, __ATOMIC_RELAXED);
}
inline CallerCode alignment_of_pools() {
  const uint64_t alignment = __atomic_load_n(&pool_alignment, __ATOMIC_RELAXED);
  if (alignment > kCodeAlign16) __builtin_unreachable();
  return static_cast<CallerCode>(alignment);
}

}  // namespace halo::runtime
