// Queries of the detector and the litterer about groups, and their allocations from groups.
#include "base/runtime_abi.h"
#include "runtime/modules/modules.h"
#include "runtime/serve/grouped.h"

using namespace halo::runtime;

extern "C" {

uint32_t halo_group_count() { return open_group_count; }

void* halo_allocate_in_group(uint32_t group, size_t size) {
  if (group >= open_group_count || size > max_object) return nullptr;
  return allocate_in(decided_code(static_cast<uint16_t>(group), false), size);
}

int32_t halo_group_of_request(size_t size, const uintptr_t* slot, uintptr_t rbp) {
  if (open_group_count == 0 || size > max_object) return -1;
  const Verdict verdict = verdict_of_request(slot, rbp);
  if (verdict.group == halo::plan::kVerdictForward || verdict.alignment > 16) return -1;
  return verdict.group;
}

}  // extern "C"
