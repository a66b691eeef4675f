// The policies of random pools and of selectors, behind the exported functions.
#include "runtime/extra.h"
#include "runtime/extra/random_pools.h"
#include "runtime/extra/redirect/selectors.h"
#include "runtime/serve/policy_functions.h"

namespace halo::runtime {
namespace {

CallerCode draw(const uintptr_t*) { return draw_pool(); }

}  // namespace

void set_random_pools_policy(uint32_t pools) {
  random_pools = pools;
  PolicyFunctions<draw>::install();
}

void set_selectors_policy() { PolicyFunctions<select_group>::install(); }

}  // namespace halo::runtime
