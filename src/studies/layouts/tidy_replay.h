// Replays an object trace as if Tidy placed objects.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "recorder/objects/visitor.h"
#include "studies/layouts/object_facts.h"
#include "studies/layouts/replay.h"
#include "studies/layouts/tidy_placement.h"

namespace halo::layout {

// Visits a trace, of which `facts` are. Objects that are not Tidy's are as recorded. With
// `own_accesses`, Tidy's accesses to its tables are simulated when it allocates and frees, and take
// the place of the recorded allocator's to the blocks of these objects. That is for traces that
// have the accesses of the recorded allocator.
class TidyReplay : public objects::Visitor {
 public:
  TidyReplay(const simulator::Machine& machine, const std::vector<ObjectFacts>& facts,
             TidyPlacement& placement, PhaseSpan span, bool own_accesses)
      : facts_(facts),
        placement_(placement),
        own_accesses_(own_accesses),
        addresses_(addresses_of(facts)),
        replay_(machine, addresses_, span) {}

  void allocate(const objects::Allocation& one) {
    ++clock_;
    if (!is_placed(one.number)) return;
    addresses_[one.number] = placement_.allocate(one.number, one.size);
    add_own_accesses();
  }
  void define(const objects::Allocation& one) { allocate(one); }
  // The time tells a free from one that did not happen.
  void free(uint64_t number) {
    if (++clock_ != facts_[number].died || !is_placed(number)) return;
    placement_.free(addresses_[number]);
    add_own_accesses();
  }
  void huge_pages(uint64_t address, uint64_t bytes) { replay_.huge_pages(address, bytes); }
  void access(base::ThreadId thread, uint64_t number, uint32_t offset, uint32_t size, bool store) {
    replay_.access(thread, number, offset, size, store);
  }
  void access_outside(base::ThreadId thread, uint64_t address, uint32_t size, bool store) {
    replay_.access_outside(thread, address, size, store);
  }
  void access_block(base::ThreadId thread, uint64_t number, int64_t offset, uint32_t size,
                    bool store) {
    if (own_accesses_ && is_placed(number)) return replay_.leave_out();
    replay_.access_block(thread, number, offset, size, store);
  }
  void repeat(base::ThreadId thread, uint64_t count) { replay_.repeat(thread, count); }

  const Misses& misses() const { return replay_.misses(); }
  // By allocation number.
  const std::vector<uint64_t>& addresses() const { return addresses_; }

 private:
  static std::vector<uint64_t> addresses_of(const std::vector<ObjectFacts>& facts) {
    std::vector<uint64_t> addresses;
    addresses.reserve(facts.size());
    for (const ObjectFacts& one : facts) addresses.push_back(one.address);
    return addresses;
  }
  bool is_placed(uint64_t number) const { return placement_.places(number, facts_[number].size); }
  void add_own_accesses() {
    if (!own_accesses_) return;
    for (const OwnAccess& own : placement_.own_accesses()) {
      const uint64_t end = own.address + own.bytes;
      for (uint64_t at = own.address; at < end; at = (at / kLine + 1) * kLine)
        replay_.add(at, uint32_t(std::min(end, (at / kLine + 1) * kLine) - at));
    }
  }

  const std::vector<ObjectFacts>& facts_;
  TidyPlacement& placement_;
  const bool own_accesses_;
  std::vector<uint64_t> addresses_;
  Replay replay_;
  uint32_t clock_ = 0;  // as that of the facts
};

}  // namespace halo::layout
