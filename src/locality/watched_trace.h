// The watch on an object trace: its judgements against exact stack distances, and its predictions
// against a second watch that watches every object.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "locality/distinct_lines.h"
#include "locality/last_level.h"
#include "locality/tallies.h"
#include "objects/visitor.h"
#include "simulator/machine.h"
#include "watch/monitor.h"

namespace halo::locality {

struct Settings {
  watch::Parameters watch;
  double megahertz = 2130;  // of the modelled cycles: the paper's machine
};

// How the judgements of pages compare with the distances of their references.
struct Accuracy {
  uint64_t samples = 0;
  uint64_t false_hits = 0;    // hits whose line was out of reach: more than open_lines since
  uint64_t false_misses = 0;  // and misses whose line was within reach
};

// One watch. Pages are those of objects, which never share one: the number of the object and, in
// the lower bits, that of the page within it.
class Watched final : public watch::Actions {
 public:
  static constexpr int kPageBits = 20;

  Watched(const watch::Parameters& parameters, const DistinctLines& lines)
      : parameters_(parameters), lines_(lines), monitor_(parameters, kContexts, this) {}

  // Returns the mapping of the new object.
  watch::Mapping allocate(const objects::Allocation& one, const watch::Now& now);
  void free(uint64_t number, const watch::Now& now) { monitor_.freed(number, now); }
  void access(uint64_t number, uint32_t offset, const watch::Now& now);
  void pass(const watch::Now& now) {
    if (now.counters.accesses >= monitor_.next_accesses() || now.us >= monitor_.next_us())
      monitor_.passed(now);
  }

  const watch::Monitor& monitor() const { return monitor_; }
  const Accuracy& accuracy() const { return accuracy_; }
  // By number: what the object was found to be in its first phase, or in its life.
  const std::vector<watch::Type>& types() const { return types_; }

  void arm(watch::Page page) override;
  void disarm(watch::Page page) override { pages_.erase(page); }
  void move(uint64_t, watch::Mapping) override {}
  void sample(watch::Page page, bool is_miss) override;
  void judge(uint64_t number, watch::ContextIndex context, uint64_t hits, uint64_t misses) override;

 private:
  static constexpr uint32_t kContexts = 1 << 16;

  struct SampledPage {
    bool armed = false;
    DistinctLines::Moment last = 0;  // reference
  };

  watch::Parameters parameters_;
  const DistinctLines& lines_;
  std::unordered_map<watch::Page, SampledPage> pages_;
  std::vector<bool> has_pages_;  // by number: some of its pages are or were sampled
  std::vector<watch::Type> types_;
  Accuracy accuracy_;
  watch::Monitor monitor_;
};

// Visits a trace.
class WatchedTrace : public objects::Visitor {
 public:
  WatchedTrace(const simulator::Machine& machine, const Settings& settings);

  void allocate(const objects::Allocation& one);
  void define(const objects::Allocation& one) { allocate(one); }
  void free(uint64_t number);
  void access(base::ThreadId, uint64_t number, uint32_t offset, uint32_t size, bool store);
  void access_outside(base::ThreadId, uint64_t address, uint32_t size, bool store) {
    reach(address, size, store);
  }
  void finish();

  const LastLevel& last_level() const { return level_; }
  const Tallies& tallies() const { return tallies_; }
  const Watched& sampled() const { return sampled_; }
  const Watched& complete() const { return complete_; }

  // Objects whose context had two known predecessors, and those that had the right mapping.
  struct Success {
    uint64_t predicted = 0;
    uint64_t right = 0;
  };
  Success success() const;

 private:
  // An access and the time after it.
  struct Reached {
    LastLevel::Outcome last;
    watch::Now now;
  };
  Reached reach(uint64_t address, uint32_t size, bool store);
  watch::Now now() const;

  Settings settings_;
  LastLevel level_;
  DistinctLines lines_;
  Tallies tallies_;
  Watched sampled_, complete_;
  std::vector<uint64_t> addresses_;  // by number
  std::vector<uint8_t> predicted_;   // by number: kNone, or a mapping
};

}  // namespace halo::locality
