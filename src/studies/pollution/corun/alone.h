// A program that has the whole last level for itself: the counters that a watch of it sees.
#pragma once

#include <cstdint>

#include "simulator/machine.h"
#include "studies/pollution/corun/last_level.h"
#include "studies/pollution/corun/program_replay.h"
#include "studies/pollution/monitor/monitor.h"

namespace halo::corun {

class Alone {
 public:
  // `megahertz`: of the modelled cycles.
  Alone(const simulator::Machine& machine, double megahertz)
      : level_(machine.caches.back().shape), waits_(machine), megahertz_(megahertz) {}

  void serve(const Request& request) {
    const bool had = level_.serve(request.kind, request.line);
    waits_.add(request.kind, had);
    if (request.kind == RequestKind::kWriteBack) return;
    ++counters_.accesses;
    counters_.misses += !had;
  }

  // `own_cycles`: the program's without the costs of the last level.
  uint64_t cycles(uint64_t own_cycles) const { return own_cycles + waits_.cycles(); }
  const watch::Counters& counters() const { return counters_; }
  watch::Now now(uint64_t own_cycles) const {
    return {uint64_t(double(cycles(own_cycles)) / megahertz_), counters_};
  }

 private:
  LastLevel level_;
  Waits waits_;
  double megahertz_;
  watch::Counters counters_;
};

// A moment of a run that began at the end of another one.
inline watch::Now after(const watch::Now& before, const watch::Now& now) {
  return {before.us + now.us,
          {before.counters.accesses + now.counters.accesses,
           before.counters.misses + now.counters.misses}};
}

}  // namespace halo::corun
