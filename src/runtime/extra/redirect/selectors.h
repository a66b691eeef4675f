// Identification by selectors: logical expressions over the call sites that control has passed
// through (HALO, section 4.3).
#pragma once

#include <cstdint>
#include <span>

#include "plan/plan_file.h"
#include "runtime/identify/active_sites.h"
#include "runtime/identify/callers.h"
#include "runtime/modules/modules.h"

namespace halo::runtime {

// Must be called first.
void configure_selectors();

// Redirects the calls of a module that was loaded, or drops those of one that was unloaded
// (modules.h).
void redirect_module(uint32_t module, ModulePlace place);

// The group of the first conjunction that holds, or kCodeForward. `here` is a stack address at or
// below the allocation's return address.
CallerCode select_group(const uintptr_t* here);

// The first of the conjunctions that holds, seen from `here` on the thread's own stack; nullptr if
// none does. `sites` must list all sites of the conjunctions.
inline const plan::Conjunction* first_holding(std::span<const plan::Conjunction> conjunctions,
                                              const SiteAddress* sites, ActiveSites& active,
                                              const uintptr_t* here) {
  const size_t words = return_words(here);
  for (const plan::Conjunction& conjunction : conjunctions) {
    uint32_t i = 0;
    for (; i < conjunction.count; ++i) {
      const uint16_t number = conjunction.sites[i];
      const SiteAddress& site = sites[number];
      if (site.immediate ? !is_caller(site.address, here, words)
                         : !is_active(active, number, site, here))
        break;
    }
    if (i == conjunction.count) return &conjunction;
  }
  return nullptr;
}

// Numbers of sites that are redirected, that need no redirection, and that cannot be redirected.
struct SiteCounts {
  uint32_t redirected, immediate, left;
};
SiteCounts site_counts();

}  // namespace halo::runtime
