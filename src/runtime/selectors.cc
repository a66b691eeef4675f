// Evaluation, and the sites as modules come and go.
#include "runtime/selectors.h"

#include "runtime/alignment.h"
#include "runtime/redirect.h"

namespace halo::runtime {
namespace {

constinit plan::PlanView the_plan;
constinit SiteAddress addresses[plan::max_sites]{};

// The calls of one module; returns how many.
std::size_t calls_of(std::uint32_t module, std::uintptr_t bias, Call* calls) {
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < the_plan.sites.size(); ++i)
    if (the_plan.sites[i].module == module && !addresses[i].immediate)
      calls[count++] = {bias + the_plan.sites[i].offset, i, the_plan.sites[i].step, false};
  return count;
}

void know_address(std::uint32_t site, std::uintptr_t address) {
  __atomic_store_n(&addresses[site].address, address, __ATOMIC_RELAXED);
}

}  // namespace

void configure_selectors(const plan::PlanView& plan) {
  the_plan = plan;
  for (std::size_t i = 0; i < plan.sites.size(); ++i)
    addresses[i] = {no_address, plan.sites[i].step,
                    (plan.sites[i].flags & plan::site_immediate) != 0};
}

void redirect_module(std::uint32_t module, ModulePlace place) {
  for (std::uint32_t i = 0; i < the_plan.sites.size(); ++i) {
    const plan::Site& site = the_plan.sites[i];
    if (site.module == module)
      know_address(i,
                   place.present && addresses[i].immediate ? place.bias + site.offset : no_address);
  }
  if (!place.present) return;
  Call calls[plan::max_sites];
  const std::size_t count = calls_of(module, place.bias, calls);
  if (count == 0) return;
  redirect_calls(module, place.bias, {calls, count});
  for (std::size_t i = 0; i < count; ++i)
    if (calls[i].redirected) know_address(calls[i].site, calls[i].return_address);
}

CallerCode select_group(const std::uintptr_t* here) {
  ActiveSites* active = active_sites;
  if (active == nullptr) [[unlikely]] {
    active = begin_active_sites(addresses, the_plan.sites.size(), here);
    if (active == nullptr) return code_forward;
  }
  if (!on_own_stack(*active, here)) return code_forward;
  const auto* held = first_holding(the_plan.conjunctions, addresses, *active, here);
  return held == nullptr ? code_forward
                         : decided_code(held->group, held->alignment == 16 || aligns_all_to_16());
}

SiteCounts site_counts() {
  SiteCounts counts{};
  for (std::size_t i = 0; i < the_plan.sites.size(); ++i) {
    if (addresses[i].address == no_address)
      ++counts.left;
    else if (addresses[i].immediate)
      ++counts.immediate;
    else
      ++counts.redirected;
  }
  return counts;
}

}  // namespace halo::runtime
