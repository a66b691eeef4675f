// mimalloc's statistics with the memory of groups.
#include <cstdio>

#include "runtime/accounting/grouped_memory.h"
#include "runtime/entry/allocators/statistics.h"

namespace halo::runtime::statistics {

namespace native {
HALO_MIMALLOC_STATISTICS(HALO_STATISTICS_DEFINE)
}  // namespace native

namespace {

using Write = void (*)(const char*, void*);

void print_groups(Write write, void* to) {
  const GroupedMemory memory = grouped_memory();
  char line[160];
  std::snprintf(line, sizeof line, "groups: in use: %lu, committed: %lu, reserved: %lu\n",
                memory.live, memory.resident, memory.mapped);
  if (write != nullptr) return write(line, to);
  std::fputs(line, stderr);
}

void add(size_t* to, uint64_t bytes) {
  if (to != nullptr) *to += bytes;
}

}  // namespace

namespace ours {

// The memory that is committed. Without a figure of the kernel, mimalloc takes it for the resident
// memory, too; a figure of the kernel has the groups' memory in it.
void mi_process_info(size_t* elapsed, size_t* user, size_t* system, size_t* rss, size_t* peak_rss,
                     size_t* commit, size_t* peak_commit, size_t* faults) {
  size_t own_rss = 0, own_commit = 0;
  native::mi_process_info(elapsed, user, system, &own_rss, peak_rss, &own_commit, peak_commit,
                          faults);
  const uint64_t more = grouped_memory().resident;
  if (rss != nullptr) *rss = own_rss + (own_rss == own_commit ? more : 0);
  if (commit != nullptr) *commit = own_commit + more;
  add(peak_commit, more);
}

void mi_stats_print(Write write) {
  native::mi_stats_print(write);
  print_groups(write, nullptr);
}

void mi_stats_print_out(Write write, void* to) {
  native::mi_stats_print_out(write, to);
  print_groups(write, to);
}

void mi_collect(bool force) {
  native::mi_collect(force);
  if (force) purge_grouped_memory();
}

}  // namespace ours

}  // namespace halo::runtime::statistics
