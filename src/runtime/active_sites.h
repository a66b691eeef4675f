// Which redirected call sites the calling thread is inside of, told without anything that would
// have to be undone when a call returns, throws or is jumped out of
// (docs/decisions/0006-selectors.md).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "plan/format.h"
#include "runtime/identifier.h"

namespace halo::runtime {

// Where a site's call has left its return address, and what then lay in the return address's slot
// of its caller; slot 0: it has not been called. Written by the site's thunk (thunks.h).
struct ActiveSite {
  std::uintptr_t slot;
  std::uintptr_t caller;
};

// A thread's. Found by thunks at fixed places; slots outside its own stack are never written.
struct ActiveSites {
  std::uintptr_t low, high;  // the thread's own stack
  ActiveSite sites[plan::max_sites];
  std::atomic<bool> owned;
  ActiveSites* next;
};
static_assert(offsetof(ActiveSites, high) == 8 && offsetof(ActiveSites, sites) == 16 &&
              sizeof(ActiveSite) == 16);

// What of a site is needed to tell whether it is active; `address` is no_address for one that is
// not to be seen now.
struct SiteAddress {
  std::uintptr_t address;  // its return address
  std::uint32_t step;      // bytes to its caller's slot; 0: not known
  bool immediate;          // it calls the allocator itself: nothing has to be noted
};

extern __thread ActiveSites* active_sites __attribute__((tls_model("initial-exec")));

// Where fs-relative code finds it.
std::int32_t active_sites_offset();

// The calling thread's, with the sites that are on its stack above `here` by now; nullptr where its
// stack or memory is not to be had. `sites` are all that there are.
ActiveSites* begin_active_sites(const SiteAddress* sites, std::size_t count,
                                const std::uintptr_t* here);

// Notes the outermost call of each site that is on the stack from `here` to the end.
void find_active_sites(ActiveSites& active, const SiteAddress* sites, std::size_t count,
                       const std::uintptr_t* here);

// In the thread that runs the constructors: its stack ends at `high`.
void know_main_stack(std::uintptr_t high);

// The end of the calling thread's stack, if the C library has made it or keeps its descriptor
// there; else 0.
std::uintptr_t thread_stack_end();

// Whether `here` lies on the thread's own stack.
inline bool on_own_stack(const ActiveSites& active, const std::uintptr_t* here) {
  const auto at = reinterpret_cast<std::uintptr_t>(here);
  return at >= active.low && at < active.high;
}

// From how many words at `here` on the return address of the program's call into this library is
// one: it is the first, unless another function of ours is between.
std::size_t return_words(const std::uintptr_t* here);

// Whether the allocator was called from there; `words` is return_words(here).
inline bool is_caller(std::uintptr_t address, const std::uintptr_t* here, std::size_t words) {
  for (std::size_t i = 0; i < words; ++i)
    if (here[i] == address) return address != no_address;
  return false;
}

// Whether the call of a site that is not immediate is under way, seen from `here`, on the thread's
// own stack. Forgets one that is not: what lies in its slot later must not be taken for it.
inline bool is_active(ActiveSites& active, std::size_t number, const SiteAddress& site,
                      const std::uintptr_t* here) {
  ActiveSite& seen = active.sites[number];
  const auto* slot = reinterpret_cast<const std::uintptr_t*>(seen.slot);
  if (slot >= here && *slot == site.address && site.address != no_address) [[unlikely]] {
    if (site.step == 0) return true;
    const std::uintptr_t caller = seen.slot + site.step;
    if (caller < active.high && *reinterpret_cast<const std::uintptr_t*>(caller) == seen.caller)
      return true;
  }
  if (seen.slot != 0) seen.slot = 0;
  return false;
}

}  // namespace halo::runtime
