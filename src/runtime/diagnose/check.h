// The checking build compares every walk with libunwind's result; empty in the normal build.
#pragma once

#include <cstdint>

#include "runtime/identify/identifier.h"

namespace halo::runtime {

struct CheckCounts {
  uint64_t walks;
  uint64_t differences;
};

#ifdef HALO_CHECK
void check_walk(const Table& table, const uintptr_t* slot, Verdict verdict);
CheckCounts check_counts();
#else
inline void check_walk(const Table&, const uintptr_t*, Verdict) {}
inline CheckCounts check_counts() { return {}; }
#endif

}  // namespace halo::runtime
