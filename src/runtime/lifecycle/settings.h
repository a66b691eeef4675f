// The runtime's environment variables, read once.
#pragma once

namespace halo::runtime {

struct Settings {
  const char* plan;  // HALO_PLAN: path of the compact plan; null: forward everything
  // HALO_STATS: path of the statistics at exit (%p: process id; "1": stderr), or null.
  const char* stats;
  // HALO_STATS_COUNTS, unless 0: counts allocations and walks, which disables the fast paths.
  bool stats_counts;
  int stats_signal;  // HALO_STATS_SIGNAL: number of a signal that requests statistics, or 0
};

// All null or 0 in a set-user-id process.
Settings read_settings();

}  // namespace halo::runtime
