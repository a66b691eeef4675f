// Replays an object trace through simulated caches, with objects at other addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "recorder/objects/visitor.h"
#include "simulator/hierarchy.h"
#include "simulator/machine.h"
#include "studies/layouts/misses.h"
#include "studies/layouts/phase.h"

namespace halo::layout {

// Visits a trace; addresses are by allocation number. Accesses outside the span are simulated, too,
// but do not count. `watched` is by allocation number, too, or empty.
class Replay : public objects::Visitor {
 public:
  Replay(const simulator::Machine& machine, const std::vector<uint64_t>& addresses,
         PhaseSpan span = {}, std::vector<bool> watched = {})
      : hierarchy_(machine), addresses_(addresses), watched_(std::move(watched)), span_(span) {}

  void huge_pages(uint64_t address, uint64_t bytes) { hierarchy_.use_huge_pages(address, bytes); }
  void access(base::ThreadId, uint64_t number, uint32_t offset, uint32_t size, bool store) {
    if (number >= addresses_.size()) throw std::runtime_error("it changed while it was read");
    const bool missed = access(addresses_[number] + offset, size, store);
    if (missed && number < watched_.size() && watched_[number]) ++misses_.to_watched;
  }
  void access_outside(base::ThreadId, uint64_t address, uint32_t size, bool store) {
    access(address, size, store);
  }
  void access_block(base::ThreadId, uint64_t number, int64_t offset, uint32_t size, bool store) {
    if (number >= addresses_.size()) throw std::runtime_error("it changed while it was read");
    access(addresses_[number] + uint64_t(offset), size, store);
  }
  void repeat(base::ThreadId, uint64_t count) {
    if (counts_) misses_.accesses += count;
  }
  // An access that the trace does not have, before its next one.
  void add(uint64_t address, uint32_t size) {
    counts_ = span_.contains(position_);
    simulate(address, size, false);
  }
  // Instead of the trace's next access.
  void leave_out() {
    counts_ = false;
    ++position_;
  }

  const Misses& misses() const { return misses_; }

 private:
  // Whether the access counts, and misses the first cache.
  bool access(uint64_t address, uint32_t size, bool store) {
    counts_ = span_.contains(position_);
    ++position_;
    return simulate(address, size, store);
  }
  bool simulate(uint64_t address, uint32_t size, bool store) {
    const simulator::Reach reach = hierarchy_.access(address, size, store);
    if (counts_) ++misses_.accesses;
    if ((reach.cache | reach.tlb) == 0) [[likely]]
      return false;
    const uint64_t cycles = hierarchy_.cycles_of(reach);
    misses_.run_cycles += cycles;
    if (!counts_) return false;
    misses_.cycles += cycles;
    for (size_t level = 0; level < reach.cache; ++level) ++misses_.caches[level];
    for (size_t level = 0; level < reach.tlb; ++level) ++misses_.tlbs[level];
    return reach.cache > 0;
  }

  simulator::Hierarchy hierarchy_;
  const std::vector<uint64_t>& addresses_;
  const std::vector<bool> watched_;
  const PhaseSpan span_;
  uint64_t position_ = 0;  // of the next access
  bool counts_ = false;    // the latest access
  Misses misses_;
};

}  // namespace halo::layout
