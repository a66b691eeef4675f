// The shared last level: serves requests by physical lines.
#pragma once

#include <cstdint>

#include "simulator/cache.h"
#include "simulator/machine.h"
#include "studies/pollution/corun/stream_format.h"

namespace halo::corun {

class LastLevel {
 public:
  explicit LastLevel(simulator::Shape shape) : cache_(shape) {}

  // Returns whether the cache had the line. It has it afterwards.
  bool serve(RequestKind kind, simulator::Block line) {
    switch (kind) {
      case RequestKind::kWriteBack:
        if (cache_.write_back(line)) return true;
        cache_.insert(line, true);
        return false;
      case RequestKind::kPrefetch:
      case RequestKind::kAhead:
        if (cache_.holds(line)) return true;
        break;
      default:
        if (cache_.touch(line, false)) return true;
    }
    cache_.insert(line, false);
    return false;
  }
  // A request for the line will come soon.
  void expect(simulator::Block line) { cache_.expect(line); }

 private:
  simulator::Cache cache_;
};

// The cycles that a program waits for the last level.
class Waits {
 public:
  explicit Waits(const simulator::Machine& machine)
      : hit_cycles_(machine.caches.back().cycles), miss_cycles_(machine.memory_cycles) {}

  // A request that the last level had, or not. As in the simulator, each line of an access has its
  // cost.
  void add(RequestKind kind, bool had) {
    if (kind == RequestKind::kDemand || kind == RequestKind::kJoined)
      cycles_ += had ? hit_cycles_ : miss_cycles_;
  }
  uint64_t cycles() const { return cycles_; }
  void restart() { cycles_ = 0; }

 private:
  uint32_t hit_cycles_, miss_cycles_;
  uint64_t cycles_ = 0;
};

}  // namespace halo::corun
