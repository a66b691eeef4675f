// The last-level cache of a simulated machine, as the counters of a processor show it.
#pragma once

#include <cstdint>

#include "simulator/hierarchy.h"
#include "simulator/machine.h"

namespace halo::locality {

// Accesses that no higher level serves reach the last level.
class LastLevel {
 public:
  explicit LastLevel(const simulator::Machine& machine)
      : hierarchy_(machine), levels_(uint8_t(machine.caches.size())) {}

  struct Outcome {
    bool reached = false;
    bool missed = false;
  };

  Outcome access(uint64_t address, uint32_t size, bool store) {
    const uint8_t level = hierarchy_.access(address, size, store).cache;
    const Outcome outcome = {level + 1 >= levels_, level == levels_};
    accesses_ += outcome.reached;
    misses_ += outcome.missed;
    return outcome;
  }

  // Repeats of the last access, which no level notices.
  void repeat(uint64_t count) { repeats_ += count; }

  uint64_t accesses() const { return accesses_; }
  uint64_t misses() const { return misses_; }
  // One for each access of the program, and the costs of its misses.
  uint64_t cycles() const { return hierarchy_.accesses() + repeats_ + hierarchy_.cycles(); }

 private:
  simulator::Hierarchy hierarchy_;
  uint8_t levels_;
  uint64_t accesses_ = 0;
  uint64_t misses_ = 0;
  uint64_t repeats_ = 0;
};

}  // namespace halo::locality
