// The classes that the watch gives to objects while the program runs.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "recorder/objects/allocation.h"
#include "studies/pollution/monitor/monitor.h"

namespace halo::corun {

// Pages are those of objects, which never share one: the number of the object and, in the lower
// bits, that of the page within it. Numbers of objects are those of the current run.
class WatchedClasses final : private watch::Actions {
 public:
  explicit WatchedClasses(const watch::Parameters& parameters)
      : page_bytes_(parameters.page_bytes), monitor_(parameters, kContexts, this) {}

  void allocate(const objects::Allocation& one, const watch::Now& now);
  void free(uint64_t object, const watch::Now& now) { monitor_.freed(before_ + object, now); }
  void access(uint64_t object, uint32_t offset, const watch::Now& now);
  void pass(const watch::Now& now) {
    if (now.counters.accesses >= monitor_.next_accesses() || now.us >= monitor_.next_us())
      monitor_.passed(now);
  }

  // All objects are freed. The program may run again, and the numbers of its objects begin again.
  void end_run(const watch::Now& now);

  // What the object's context predicted when it was allocated, and the mapping that it has now.
  watch::Mapping predicted(uint64_t object) const { return objects_[before_ + object].predicted; }
  watch::Mapping mapping(uint64_t object) const { return objects_[before_ + object].mapping; }
  const watch::Monitor& monitor() const { return monitor_; }

 private:
  static constexpr uint32_t kContexts = 1 << 16;
  static constexpr int kPageBits = 20;

  struct Object {
    watch::Mapping predicted = watch::Mapping::kOpen;
    watch::Mapping mapping = watch::Mapping::kOpen;
    bool has_pages = false;  // some are or were armed
  };

  void arm(watch::Page page) override;
  void disarm(watch::Page page) override { armed_.erase(page); }
  void move(uint64_t object, watch::Mapping to) override { objects_[object].mapping = to; }
  void sample(watch::Page, bool) override {}
  void judge(uint64_t, watch::ContextIndex, uint64_t, uint64_t) override {}

  uint32_t page_bytes_;
  std::vector<Object> objects_;  // by number, those of earlier runs first
  uint64_t before_ = 0;          // objects of earlier runs
  std::unordered_set<watch::Page> armed_;
  watch::Monitor monitor_;
};

}  // namespace halo::corun
