// What has to be known of a trace before the watch runs on it: its length, and how many lines of a
// page each context touches in a visit.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "recorder/objects/visitor.h"
#include "simulator/machine.h"
#include "studies/pollution/locality/last_level.h"
#include "studies/pollution/locality/page_clock.h"
#include "studies/pollution/locality/page_numbers.h"
#include "studies/pollution/locality/tallies.h"

namespace halo::locality {

class FirstPass : public objects::Visitor {
 public:
  FirstPass(const simulator::Machine& machine, const PageClockSettings& clock)
      : level_(machine), clock_(clock) {}

  void allocate(const objects::Allocation& one) {
    if (one.number >= objects_.size()) objects_.resize(one.number + 1);
    objects_[one.number] = {one.address, base::index(one.context)};
  }
  void define(const objects::Allocation& one) { allocate(one); }
  void access(base::ThreadId, uint64_t number, uint32_t offset, uint32_t size, bool store) {
    if (number >= objects_.size()) return;
    const Object& object = objects_[number];
    const uint64_t address = object.address + offset;
    level_.access(address, size, store);
    ++object_accesses_;
    const uint32_t page = numbers_.number(address / kPageBytes);
    if (clock_.samples(page)) visit(page, object.context, address);
  }
  void access_outside(base::ThreadId, uint64_t address, uint32_t size, bool store) {
    level_.access(address, size, store);
  }
  void repeat(base::ThreadId, uint64_t count) { level_.repeat(count); }
  void finish() {
    for (const Visit& visit : visits_) end(visit);
  }

  uint64_t cycles() const { return level_.cycles(); }
  uint64_t misses() const { return level_.misses(); }
  // Accesses to objects.
  uint64_t object_accesses() const { return object_accesses_; }
  // By context; 1 for contexts without visits.
  std::vector<double> lines_of_visit() const {
    std::vector<double> found;
    for (const Lines& one : lines_)
      found.push_back(one.visits == 0 ? 1 : double(one.lines) / double(one.visits));
    return found;
  }

 private:
  struct Object {
    uint64_t address = 0;
    uint32_t context = 0;
  };
  struct Visit {
    uint64_t lines = 0;  // a bit for each
    uint32_t context = 0;
  };
  struct Lines {
    uint64_t visits = 0;
    uint64_t lines = 0;  // of all visits
  };

  // The visit belongs to the context of its first access.
  void visit(uint32_t page, uint32_t context, uint64_t address) {
    if (page >= visits_.size()) visits_.resize(page + 1);
    if (clock_.reference(page, 1)) {
      end(visits_[page]);
      visits_[page] = {0, context};
    }
    visits_[page].lines |= uint64_t{1}
                           << address % kPageBytes * PageClock::kLinesOfPage / kPageBytes;
  }

  void end(const Visit& visit) {
    if (visit.lines == 0) return;
    if (visit.context >= lines_.size()) lines_.resize(visit.context + 1);
    ++lines_[visit.context].visits;
    lines_[visit.context].lines += uint64_t(std::popcount(visit.lines));
  }

  LastLevel level_;
  PageClock clock_;
  PageNumbers numbers_;
  std::vector<Object> objects_;  // by number
  std::vector<Visit> visits_;    // by page
  std::vector<Lines> lines_;     // by context
  uint64_t object_accesses_ = 0;
};

}  // namespace halo::locality
