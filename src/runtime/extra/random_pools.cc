// The state of the random generator.
#include "runtime/serve/random_pools.h"

#include <atomic>

namespace halo::runtime {

constinit uint32_t random_pools = 0;
constinit uint64_t random_alignment = kCodeAlign16;
__thread uint32_t last_random_number __attribute__((tls_model("initial-exec"))) = 0;

void configure_random_pools(uint32_t pools, bool align16) {
  random_pools = pools;
  random_alignment = align16 ? kCodeAlign16 : 0;
}

void align_random_pools_to_16() {
  __atomic_store_n(&random_alignment, kCodeAlign16, __ATOMIC_RELAXED);
}

uint32_t first_random_number() {
  static constinit std::atomic<uint32_t> threads{0};
  // An odd multiple of an odd number is never 0.
  return (threads.fetch_add(1, std::memory_order_relaxed) * 2 + 1) * 0x9E3779B1u;
}

}  // namespace halo::runtime
