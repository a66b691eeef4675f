// What the detector and the litterer ask of the runtime, to know and to make the state that its
// groups are in after a long time (src/litter/groups.h).
#include <cstddef>
#include <cstdint>

#include "runtime/exported.h"
#include "runtime/grouped.h"
#include "runtime/modules.h"

using namespace halo::runtime;

extern "C" {

// How many groups the plan has that serves this process; 0: none does.
HALO_EXPORT std::uint32_t halo_group_count() { return open_group_count; }

// A block for `size` bytes of that group, as for an object that needs no alignment of its own; to
// be given back to free. nullptr where the group would not serve it.
HALO_EXPORT void* halo_allocate_in_group(std::uint32_t group, std::size_t size) {
  if (group >= open_group_count || size > max_object) return nullptr;
  return allocate_in(decided_code(static_cast<std::uint16_t>(group), false), size);
}

// The group that would serve a request for `size` bytes by the call whose return address lies at
// `slot`, the caller's rbp being `rbp`; -1: it would be forwarded.
HALO_EXPORT std::int32_t halo_group_of_request(std::size_t size, const std::uintptr_t* slot,
                                               std::uintptr_t rbp) {
  if (open_group_count == 0 || size > max_object) return -1;
  const Verdict verdict = verdict_of_request(slot, rbp);
  if (verdict.group == halo::plan::verdict_forward || verdict.alignment > 16) return -1;
  return verdict.group;
}

}  // extern "C"
