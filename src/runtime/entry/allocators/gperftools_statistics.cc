// gperftools' statistics with the memory of groups.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtime/accounting/grouped_memory.h"
#include "runtime/entry/allocators/statistics.h"

namespace halo::runtime::statistics {

namespace native {
HALO_GPERFTOOLS_STATISTICS(HALO_STATISTICS_DEFINE)
}  // namespace native

namespace {

uint64_t grouped(const char* property) {
  const GroupedMemory memory = grouped_memory();
  if (std::strcmp(property, "generic.current_allocated_bytes") == 0) return memory.live;
  if (std::strcmp(property, "generic.heap_size") == 0) return memory.mapped;
  if (std::strcmp(property, "generic.total_physical_bytes") == 0) return memory.resident;
  if (std::strcmp(property, "tcmalloc.pageheap_free_bytes") == 0)
    return memory.resident - memory.active;
  return 0;
}

}  // namespace

namespace ours {

bool _ZN15MallocExtension18GetNumericPropertyEPKcPm(void* self, const char* name, size_t* value) {
  const bool known = native::_ZN15MallocExtension18GetNumericPropertyEPKcPm(self, name, value);
  if (known) *value += grouped(name);
  return known;
}

// ReleaseFreeMemory is this with the largest number. Programs release a little at a time, too: then
// that memory is tcmalloc's, as the groups' is purged as a whole.
void _ZN15MallocExtension15ReleaseToSystemEm(void* self, size_t bytes) {
  native::_ZN15MallocExtension15ReleaseToSystemEm(self, bytes);
  const GroupedMemory memory = grouped_memory();
  if (bytes != 0 && bytes >= (memory.resident - memory.active) / 2) purge_grouped_memory();
}

void _ZN15MallocExtension8GetStatsEPci(void* self, char* buffer, int bytes) {
  native::_ZN15MallocExtension8GetStatsEPci(self, buffer, bytes);
  if (bytes <= 0) return;
  const auto room = static_cast<size_t>(bytes);
  const size_t used = strnlen(buffer, room);
  const GroupedMemory memory = grouped_memory();
  if (used < room)
    std::snprintf(buffer + used, room - used,
                  "GROUPS: %12lu bytes in use\nGROUPS: %12lu bytes in memory\n", memory.live,
                  memory.resident);
}

}  // namespace ours

}  // namespace halo::runtime::statistics
