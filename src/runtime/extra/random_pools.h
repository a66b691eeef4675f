// Pools drawn at random, one for each allocation: the control without knowledge of the program
// (HALO, section 5.2, figure 15).
#pragma once

#include <cstdint>

#include "runtime/base/exported.h"
#include "runtime/identify/callers.h"

namespace halo::runtime {

// Must be called before the first draw. Sets the number of groups, and whether their blocks are
// aligned to 16 bytes.
void configure_random_pools(uint32_t pools, bool align16);
// Aligns their later blocks to 16 bytes.
void align_random_pools_to_16();

// A thread's first number, never 0. It is the same for the n-th thread in every run.
uint32_t first_random_number();

HALO_HIDDEN extern constinit uint32_t random_pools;
HALO_HIDDEN extern constinit uint64_t random_alignment;  // kCodeAlign16, or 0
// The calling thread's last number; 0: none yet.
extern __thread uint32_t last_random_number __attribute__((tls_model("initial-exec")));

inline CallerCode alignment_of_pools() {
  const uint64_t alignment = __atomic_load_n(&random_alignment, __ATOMIC_RELAXED);
  if (alignment > kCodeAlign16) __builtin_unreachable();
  return static_cast<CallerCode>(alignment);
}

// Marsaglia's xorshift: a draw costs less than a load from the second-level cache.
inline CallerCode draw_pool() {
  uint32_t x = last_random_number;
  if (x == 0) [[unlikely]]
    x = first_random_number();
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  last_random_number = x;
  const uint64_t pool = uint64_t{x} * random_pools >> 32;
  return decided_code(static_cast<uint16_t>(pool), false) | alignment_of_pools();
}

}  // namespace halo::runtime
