// One watch, and how its judgements of pages compare with exact stack distances.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "recorder/objects/allocation.h"
#include "studies/pollution/locality/distinct_lines.h"
#include "studies/pollution/locality/page_clock.h"
#include "studies/pollution/locality/tallies.h"
#include "studies/pollution/monitor/monitor.h"

namespace halo::locality {

struct Accuracy {
  uint64_t samples = 0;
  uint64_t false_hits = 0;    // hits whose line was out of reach: more than open_lines since
  uint64_t false_misses = 0;  // and misses whose line was within reach
};

// Pages are those of objects, which never share one: the number of the object and, in the lower
// bits, that of the page within it.
class Watched final : public watch::Actions {
 public:
  static constexpr int kPageBits = 20;

  // With a clock, it replaces the counters; it and the lines must outlive this.
  Watched(const watch::Parameters& parameters, const DistinctLines& lines,
          const PageClock* clock = nullptr)
      : parameters_(parameters),
        lines_(lines),
        clock_(clock),
        monitor_(parameters, kContexts, this) {}
  Watched(const Watched&) = delete;  // its monitor refers to it
  Watched& operator=(const Watched&) = delete;

  // Returns the mapping of the new object.
  watch::Mapping allocate(const objects::Allocation& one, const watch::Now& now);
  void free(uint64_t number, const watch::Now& now);
  void access(uint64_t number, uint32_t offset, const watch::Now& now);
  void pass(const watch::Now& now) {
    const watch::Now mine = read(now);
    if (mine.counters.accesses >= monitor_.next_accesses() || mine.us >= monitor_.next_us())
      monitor_.passed(mine);
  }

  const watch::Monitor& monitor() const { return monitor_; }
  const Accuracy& accuracy() const { return accuracy_; }
  // By number: what the object was found to be in its first phase, or in its life.
  const std::vector<watch::Type>& types() const { return types_; }
  // Whether some of the object's pages are or were sampled, and it is not freed.
  bool has_pages(uint64_t number) const { return number < has_pages_.size() && has_pages_[number]; }

  void arm(watch::Page page) override;
  void disarm(watch::Page page) override { pages_.erase(page); }
  void move(uint64_t, watch::Mapping) override {}
  void sample(watch::Page page, bool is_miss) override;
  void judge(uint64_t number, watch::ContextIndex context, uint64_t hits, uint64_t misses) override;
  uint64_t misses_between(const watch::Counters& from, const watch::Counters& to) const override {
    return clock_ == nullptr ? to.misses - from.misses : clock_->lines_since(from.misses);
  }

 private:
  static constexpr uint32_t kContexts = 1 << 16;

  struct SampledPage {
    bool armed = false;
    DistinctLines::Moment last = 0;  // reference
  };

  // The clock's reading instead of the counters', if there is one.
  watch::Now read(const watch::Now& now) const {
    return clock_ == nullptr ? now : watch::Now{now.us, {clock_->accesses(), clock_->now()}};
  }

  watch::Parameters parameters_;
  const DistinctLines& lines_;
  const PageClock* clock_;
  std::unordered_map<watch::Page, SampledPage> pages_;
  std::vector<bool> has_pages_;  // by number
  std::vector<watch::Type> types_;
  Accuracy accuracy_;
  watch::Monitor monitor_;
};

}  // namespace halo::locality
