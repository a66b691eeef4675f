// Pools drawn at random, one for each allocation: the control without knowledge of the program
// (HALO, section 5.2, figure 15).
#pragma once

#include <cstdint>

#include "runtime/base/exported.h"
#include "runtime/serve/global_policy.h"

namespace halo::runtime {

// A thread's first number, never 0. It is the same for the n-th thread in every run.
uint32_t first_random_number();

HALO_HIDDEN extern constinit uint32_t random_pools;  // set before the first draw
// The calling thread's last number; 0: none yet.
extern __thread uint32_t last_random_number __attribute__((tls_model("initial-exec")));

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
