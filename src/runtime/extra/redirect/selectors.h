// Identification by selectors: logical expressions over the call sites that control has passed
// through (HALO, section 4.3).
#pragma once

#include <cstdint>
#include <span>

#include "plan/plan_file.h"
#include "runtime/extra/redirect/active_sites.h"
#include "runtime/identify/callers.h"

namespace halo::runtime {

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

}  // namespace halo::runtime
