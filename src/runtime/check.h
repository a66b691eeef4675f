// The checking build: every walk is compared with libunwind's view of the same stack. In the normal
// build there is nothing here.
#pragma once

#include <cstdint>

#include "runtime/identifier.h"

namespace halo::runtime {

struct CheckCounts {
  std::uint64_t walks;
  std::uint64_t differences;
};

#ifdef HALO_CHECK
inline constexpr bool checking_build = true;
void check_walk(const Table& table, const std::uintptr_t* slot, Verdict verdict);
CheckCounts check_counts();
#else
inline constexpr bool checking_build = false;
inline void check_walk(const Table&, const std::uintptr_t*, Verdict) {}
inline CheckCounts check_counts() { return {}; }
#endif

}  // namespace halo::runtime
