// The state of the random generator.
#include "runtime/extra/random_pools.h"

#include <atomic>

namespace halo::runtime {

constinit uint32_t random_pools = 0;
__thread uint32_t last_random_number __attribute__((tls_model("initial-exec"))) = 0;

uint32_t first_random_number() {
  static constinit std::atomic<uint32_t> threads{0};
  // An odd multiple of an odd number is never 0.
  return (threads.fetch_add(1, std::memory_order_relaxed) * 2 + 1) * 0x9E3779B1u;
}

}  // namespace halo::runtime
