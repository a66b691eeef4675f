// The runtime's environment variables, read once.
#pragma once

namespace halo::runtime {

struct Settings {
  const char* plan;   // HALO_PLAN: path of the compact plan, or null: forward everything
  const char* stats;  // HALO_STATS: where to write statistics at exit (%p: process id), or null
};

// Null everywhere in a set-user-id process.
Settings read_settings();

}  // namespace halo::runtime
