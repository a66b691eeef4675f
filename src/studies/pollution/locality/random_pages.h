// Judgements of pairs of references that begin at random accesses, against exact stack distances
// (NightWatch, figure 10).
#pragma once

#include <cstdint>

#include "base/random.h"
#include "studies/pollution/locality/page_clock.h"
#include "studies/pollution/locality/watched.h"

namespace halo::locality {

// The page of a drawn access is watched until it is judged once. Pages are those of memory, and
// have numbers from 0.
class RandomPages {
 public:
  // One access of `draw_every`, which is at least 1, is drawn. With a clock, it replaces the
  // counters; it must outlive this.
  RandomPages(const watch::Parameters& parameters, const DistinctLines& lines, uint64_t draw_every,
              const PageClock* clock = nullptr)
      : watched_(for_pages(parameters), lines, clock),
        random_(parameters.seed),
        draw_every_(draw_every) {}

  // An access to a page, which may be drawn.
  void access(uint32_t page, bool may_be_drawn, const watch::Now& now) {
    if (may_be_drawn && random_.below(draw_every_) == 0 && !watched_.has_pages(page))
      watched_.allocate({page, 0, kPageBytes, base::ContextId{0}}, now);
    if (!watched_.has_pages(page)) return;
    const uint64_t ended = judged_or_dropped();
    watched_.access(page, 0, now);
    if (judged_or_dropped() != ended) watched_.free(page, now);
  }
  void pass(const watch::Now& now) { watched_.pass(now); }

  const Watched& watched() const { return watched_; }

 private:
  static constexpr uint32_t kMaxPages = 1 << 18;

  static watch::Parameters for_pages(watch::Parameters parameters) {
    parameters.min_bytes = 1;
    parameters.always_bytes = 1;
    parameters.max_rounds = 1;
    parameters.max_pending = UINT32_MAX;
    parameters.max_objects = parameters.max_pages = kMaxPages;
    parameters.timeout_us = UINT64_MAX / 2;
    return parameters;
  }
  uint64_t judged_or_dropped() const {
    const watch::Monitor::Counts& counts = watched_.monitor().counts();
    return counts.hits + counts.misses + counts.dropped;
  }

  Watched watched_;
  base::Random random_;
  uint64_t draw_every_;
};

}  // namespace halo::locality
