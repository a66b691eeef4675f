// The watch on an object trace: its judgements against exact stack distances, and its predictions
// against a second watch that watches every object.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "recorder/objects/visitor.h"
#include "simulator/machine.h"
#include "studies/pollution/locality/distinct_lines.h"
#include "studies/pollution/locality/last_level.h"
#include "studies/pollution/locality/page_clock.h"
#include "studies/pollution/locality/page_numbers.h"
#include "studies/pollution/locality/random_pages.h"
#include "studies/pollution/locality/tallies.h"
#include "studies/pollution/locality/watched.h"
#include "studies/pollution/monitor/monitor.h"

namespace halo::locality {

struct Settings {
  watch::Parameters watch;
  double megahertz = 2130;  // of the modelled cycles: the paper's machine
  // Of the accesses to objects, one of this number is drawn for random_pages(); 0: none.
  uint64_t draw_every = 0;
  PageClockSettings clock;
  std::vector<double> lines_of_visit;  // by context (first_pass.h); 1 for others
};

// What RandomPages found with the counters, with misses from the first reference on, and with the
// clock of pages.
struct RandomPagesByClock {
  RandomPagesByClock(const Settings& settings, const DistinctLines& lines, const PageClock& clock);

  RandomPages counters, first, pages;
};

// Visits a trace.
class WatchedTrace : public objects::Visitor {
 public:
  WatchedTrace(const simulator::Machine& machine, const Settings& settings);

  void allocate(const objects::Allocation& one);
  void define(const objects::Allocation& one) { allocate(one); }
  void free(uint64_t number);
  void access(base::ThreadId, uint64_t number, uint32_t offset, uint32_t size, bool store);
  void access_outside(base::ThreadId, uint64_t address, uint32_t size, bool store);
  void repeat(base::ThreadId, uint64_t count) { level_.repeat(count); }
  void finish();

  const LastLevel& last_level() const { return level_; }
  const Tallies& tallies() const { return tallies_; }
  const Watched& sampled() const { return sampled_; }
  const Watched& complete() const { return complete_; }
  // Null unless accesses are drawn.
  const RandomPagesByClock* random_pages() const { return random_.get(); }
  const PageClock& clock() const { return clock_; }

  // Objects that were not the first of their context, and those that had the right mapping: that of
  // the watch of every object.
  struct Success {
    uint64_t predicted = 0;
    uint64_t right = 0;
    uint64_t polluters = 0;     // of the predicted ones
    uint64_t known = 0;         // those whose context had two objects of a known type
    uint64_t known_right = 0;   // of them
    uint64_t learnt_right = 0;  // would have the right mapping with the classes of the run's end
  };
  Success success() const;

 private:
  struct Object {
    uint64_t address = 0;
    uint32_t context = 0;
  };
  struct Prediction {
    bool counts = false;  // not the first object of its context, nor too small
    bool known = false;   // two objects of its context have a type
    watch::Mapping mapping = watch::Mapping::kOpen;
  };
  // An access and the time after it.
  struct Reached {
    LastLevel::Outcome last;
    watch::Now now;
  };
  Reached reach(uint64_t address, uint32_t size, bool store);
  void judge_page(uint32_t page, uint32_t context, bool is_object, const watch::Now& now);
  watch::Now now() const;

  Settings settings_;
  LastLevel level_;
  DistinctLines lines_;
  Tallies tallies_;
  Watched sampled_, complete_;
  PageClock clock_;
  PageNumbers numbers_;
  std::unique_ptr<RandomPagesByClock> random_;
  std::vector<Object> objects_;        // by number
  std::vector<Prediction> predicted_;  // by number
};

}  // namespace halo::locality
