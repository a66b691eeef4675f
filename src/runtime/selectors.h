// Which group an allocation belongs to by the paper's own mechanism: logical expressions over the
// call sites that control has passed through (HALO, section 4.3).
#pragma once

#include <cstdint>
#include <span>

#include "plan/plan_file.h"
#include "runtime/active_sites.h"
#include "runtime/callers.h"
#include "runtime/modules.h"

namespace halo::runtime {

// Before any other. The plan stays where it is.
void configure_selectors(const plan::PlanView& plan);

// Redirects the calls of a module that has come, or forgets those of one that has gone (modules.h).
void redirect_module(std::uint32_t module, ModulePlace place);

// The group of the first conjunction that holds, or code_forward. `here` is a place on the stack at
// or below the allocation's return address.
CallerCode select_group(const std::uintptr_t* here);

// The first of these conjunctions that holds, seen from `here`, on the thread's own stack; nullptr:
// none. `sites` are all that the conjunctions name.
inline const plan::Conjunction* first_holding(std::span<const plan::Conjunction> conjunctions,
                                              const SiteAddress* sites, ActiveSites& active,
                                              const std::uintptr_t* here) {
  const std::size_t words = return_words(here);
  for (const plan::Conjunction& conjunction : conjunctions) {
    std::uint32_t i = 0;
    for (; i < conjunction.count; ++i) {
      const std::uint16_t number = conjunction.sites[i];
      const SiteAddress& site = sites[number];
      if (site.immediate ? !is_caller(site.address, here, words)
                         : !is_active(active, number, site, here))
        break;
    }
    if (i == conjunction.count) return &conjunction;
  }
  return nullptr;
}

// How many sites are redirected now, need not be, and are not to be seen.
struct SiteCounts {
  std::uint32_t redirected, immediate, left;
};
SiteCounts site_counts();

}  // namespace halo::runtime
