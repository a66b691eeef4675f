#include "runtime/serve/global_policy.h"

#include "runtime/serve/policy_functions.h"

namespace halo::runtime {
namespace {

CallerCode take_only_group(const uintptr_t*) {
  return decided_code(0, false) | alignment_of_pools();
}

}  // namespace

constinit NextAllocator replaced_next{};
constinit GlobalPolicy global_policy = nullptr;

void set_one_group_policy() {
  PolicyFunctions<take_only_group>::install();
  new_of_others = PolicyFunctions<take_only_group>::make;
}

}  // namespace halo::runtime
