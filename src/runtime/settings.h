// The runtime's environment variables, read once.
#pragma once

namespace halo::runtime {

struct Settings {
  const char* plan;  // HALO_PLAN: path of the compact plan, or null: forward everything
  // HALO_STATS: where to write statistics at exit (%p: process id; "1": stderr), or null
  const char* stats;
  // HALO_STATS_COUNTS, but for 0: allocations and walks are counted for them, on longer ways
  bool stats_counts;
  int stats_signal;  // HALO_STATS_SIGNAL: the number of a signal that asks for them, or 0
};

// Null or 0 everywhere in a set-user-id process.
Settings read_settings();

}  // namespace halo::runtime
