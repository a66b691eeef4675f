// The redirected call sites that are active in the calling thread
// (docs/decisions/0006-selectors.md).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "plan/format.h"
#include "runtime/identify/identifier.h"

namespace halo::runtime {

// A site's last call: the slot of its return address, and the contents of its caller's return
// address slot at that time. Slot 0: no call is recorded. The site's thunk writes it (thunks.h).
struct ActiveSite {
  uintptr_t slot;
  uintptr_t caller;
};

// The record needs no action when a call returns, throws or is left by a jump: a site is active if
// its return address is still in the recorded slot.
//
// A thread's record, at a fixed offset for thunks. Only the owning thread and its signal handlers
// access `sites`; thunks write only for slots on the thread's own stack. `owned` is set by a CAS
// (acquire) and cleared with release when a thread ends, so that a later thread can adopt the
// record.
struct ActiveSites {
  uintptr_t low, high;  // the thread's own stack
  ActiveSite sites[plan::kMaxSites];
  std::atomic<bool> owned;
  ActiveSites* next;
};
static_assert(offsetof(ActiveSites, high) == 8 && offsetof(ActiveSites, sites) == 16 &&
              sizeof(ActiveSite) == 16);

// The properties of a site that decide whether it is active. `address` is kNoAddress if its module
// is not loaded.
struct SiteAddress {
  uintptr_t address;  // its return address
  uint32_t step;      // bytes to its caller's slot; 0: unknown
  bool immediate;     // it calls the allocator itself, so no record is needed
};

extern __thread ActiveSites* active_sites __attribute__((tls_model("initial-exec")));

// The offset of `active_sites` from fs, for thunks.
int32_t active_sites_offset();

// Creates the calling thread's record and enters the sites that are on its stack above `here`.
// Returns nullptr if the stack's bounds or memory cannot be obtained. `sites` must list all sites.
ActiveSites* begin_active_sites(const SiteAddress* sites, size_t count, const uintptr_t* here);

// Records the outermost call of each site on the stack from `here` to its end.
void find_active_sites(ActiveSites& active, const SiteAddress* sites, size_t count,
                       const uintptr_t* here);

// Called in the thread that runs the constructors; its stack ends at `high`.
void set_main_stack(uintptr_t high);

// Whether `here` is on the thread's own stack.
inline bool on_own_stack(const ActiveSites& active, const uintptr_t* here) {
  const auto at = reinterpret_cast<uintptr_t>(here);
  return at >= active.low && at < active.high;
}

// The number of words at `here` that may hold the return address of the program's call into this
// library: 1, unless another function of the library is in between.
size_t return_words(const uintptr_t* here);

// Whether the allocator was called from `address`; `words` is return_words(here).
inline bool is_caller(uintptr_t address, const uintptr_t* here, size_t words) {
  for (size_t i = 0; i < words; ++i)
    if (here[i] == address) return address != kNoAddress;
  return false;
}

// Whether a call of a site that is not immediate is active, seen from `here` on the thread's own
// stack. Clears the record of an inactive one, since its slot may later hold the same value by
// chance.
inline bool is_active(ActiveSites& active, size_t number, const SiteAddress& site,
                      const uintptr_t* here) {
  ActiveSite& seen = active.sites[number];
  const auto* slot = reinterpret_cast<const uintptr_t*>(seen.slot);
  if (slot >= here && *slot == site.address && site.address != kNoAddress) [[unlikely]] {
    if (site.step == 0) return true;
    const uintptr_t caller = seen.slot + site.step;
    if (caller < active.high && *reinterpret_cast<const uintptr_t*>(caller) == seen.caller)
      return true;
  }
  if (seen.slot != 0) seen.slot = 0;
  return false;
}

}  // namespace halo::runtime
