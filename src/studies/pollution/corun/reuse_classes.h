// Which contexts' objects pollute the last level, by the exact reuse of their lines: NightWatch's
// definition (section 5.1) with stack distances in the place of samples.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "simulator/recency_list.h"
#include "studies/pollution/corun/program_replay.h"

namespace halo::corun {

// A use of a line is a burst if fewer other lines were used since its last use than the restricted
// part has, else a hit if fewer than the whole cache has, else a miss. Bursts do not count.
class ReuseClasses final : public ReplayObserver {
 public:
  ReuseClasses(uint64_t restrict_lines, uint64_t open_lines, double polluter_rate)
      : near_(restrict_lines), far_(open_lines), polluter_rate_(polluter_rate) {}

  void allocated(const objects::Allocation& one) override {
    if (one.number >= contexts_.size()) contexts_.resize(one.number + 1);
    contexts_[one.number] = base::index(one.context);
  }
  void requested(const Request& request) override {
    if (request.kind == RequestKind::kWriteBack) return;
    using simulator::RecencyList;
    const bool is_near = near_.use(request.line.name) == RecencyList::Found::kHeld;
    const bool is_far = far_.use(request.line.name) != RecencyList::Found::kHeld;
    if (is_near || request.object == 0) return;
    const uint32_t context = contexts_[request.object];
    if (context >= tallies_.size()) tallies_.resize(context + 1);
    ++(is_far ? tallies_[context].misses : tallies_[context].hits);
  }

  bool pollutes(uint32_t context) const {
    if (context >= tallies_.size()) return false;
    const auto hits = double(tallies_[context].hits), misses = double(tallies_[context].misses);
    return misses != 0 && misses >= polluter_rate_ * (hits + misses);
  }

 private:
  struct Tally {
    uint64_t hits = 0;
    uint64_t misses = 0;
  };

  simulator::RecencyList near_, far_;
  double polluter_rate_;
  std::vector<uint32_t> contexts_;  // by object
  std::vector<Tally> tallies_;      // by context
};

}  // namespace halo::corun
