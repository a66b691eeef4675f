// What a replay counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/json/writer.h"
#include "simulator/hierarchy.h"
#include "simulator/machine.h"

namespace halo::layout {

// Accesses that missed each level, as in the simulator sink: an access to two lines counts once.
struct Misses {
  static constexpr size_t kMaxLevels = simulator::Hierarchy::kMaxLevels;

  uint64_t accesses = 0;
  uint64_t cycles = 0;
  uint64_t run_cycles = 0;  // also of accesses that do not count; only of a replay
  std::array<uint64_t, kMaxLevels> caches{}, tlbs{};
  uint64_t to_watched = 0;  // of those that missed the first cache: to objects that are watched
};

// The fields `accesses`, `cycles` and `misses` by level, of the machine that was replayed.
inline void write_misses(const Misses& misses, const simulator::Machine& machine,
                         JsonWriter& json) {
  json.fields("accesses", misses.accesses, "cycles", misses.cycles);
  json.field("misses", [&] {
    for (size_t at = 0; at < machine.caches.size(); ++at)
      json.field(machine.caches[at].name, misses.caches[at]);
    for (size_t at = 0; at < machine.tlbs.size(); ++at)
      json.field(machine.tlbs[at].name, misses.tlbs[at]);
  });
}

}  // namespace halo::layout
