// Evaluation of selectors, and updates of the sites as modules are loaded and unloaded.
#include "runtime/extra/redirect/selectors.h"

#include "runtime/base/active_plan.h"
#include "runtime/code/alignment.h"
#include "runtime/extra.h"
#include "runtime/extra/redirect/redirect.h"
#include "runtime/modules/modules.h"

namespace halo::runtime {
namespace {

constinit std::span<const plan::Site> sites;  // of the plan; none before begin_selectors
constinit SiteAddress addresses[plan::kMaxSites]{};

// Collects the calls of one module; returns their number.
size_t calls_of(uint32_t module, uintptr_t bias, Call* calls) {
  size_t count = 0;
  for (uint32_t i = 0; i < sites.size(); ++i)
    if (sites[i].module == module && !addresses[i].immediate)
      calls[count++] = {bias + sites[i].offset, i, sites[i].step, false};
  return count;
}

void set_address(uint32_t site, uintptr_t address) {
  __atomic_store_n(&addresses[site].address, address, __ATOMIC_RELAXED);
}

// Redirects the calls of a module that was loaded, or drops those of one that was unloaded
// (modules.h).
void redirect_module(uint32_t module, ModulePlace place) {
  for (uint32_t i = 0; i < sites.size(); ++i) {
    const plan::Site& site = sites[i];
    if (site.module == module)
      set_address(i,
                  place.present && addresses[i].immediate ? place.bias + site.offset : kNoAddress);
  }
  if (!place.present) return;
  Call calls[plan::kMaxSites];
  const size_t count = calls_of(module, place.bias, calls);
  if (count == 0) return;
  redirect_calls(module, place.bias, {calls, count});
  for (size_t i = 0; i < count; ++i)
    if (calls[i].redirected) set_address(calls[i].site, calls[i].return_address);
}

}  // namespace

void begin_selectors(uintptr_t stack_end) {
  sites = active_plan.sites;
  for (size_t i = 0; i < sites.size(); ++i)
    addresses[i] = {kNoAddress, sites[i].step, (sites[i].flags & plan::kSiteImmediate) != 0};
  if (stack_end != 0) set_main_stack(stack_end);
  set_place_listener(redirect_module);
}

CallerCode select_group(const uintptr_t* here) {
  ActiveSites* active = active_sites;
  if (active == nullptr) [[unlikely]] {
    active = begin_active_sites(addresses, sites.size(), here);
    if (active == nullptr) return kCodeForward;
  }
  if (!on_own_stack(*active, here)) return kCodeForward;
  const auto* held = first_holding(active_plan.conjunctions, addresses, *active, here);
  return held == nullptr ? kCodeForward
                         : decided_code(held->group, held->alignment == 16 || aligns_all_to_16());
}

SiteCounts site_counts() {
  SiteCounts counts{};
  for (size_t i = 0; i < sites.size(); ++i) {
    if (addresses[i].address == kNoAddress)
      ++counts.left;
    else if (addresses[i].immediate)
      ++counts.immediate;
    else
      ++counts.redirected;
  }
  return counts;
}

}  // namespace halo::runtime
