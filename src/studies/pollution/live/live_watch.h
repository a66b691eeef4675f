// The watch of a running program: pages of spans are trapped, the monitor judges them, and groups
// that pollute the last-level cache are confined (NightWatch, sections 4 and 5).
//
// One thread owns everything here but the queue. It must not touch the program's memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/extra/spans/span_watcher.h"
#include "studies/pollution/live/budget.h"
#include "studies/pollution/live/command_queue.h"
#include "studies/pollution/live/confiner.h"
#include "studies/pollution/live/page_sample.h"
#include "studies/pollution/monitor/monitor.h"
#include "studies/pollution/traps/traps.h"

namespace halo::watching {

struct Settings {
  uint64_t cache_bytes = 0;     // of the last level
  double share = 0.005;         // of the elapsed time that the watch may take
  bool stress = false;          // arms all pages of all spans each millisecond, for tests
  frames::ColourRange colours;  // of confined groups' frames; not valid: any
};

// What the watch found about a group.
struct GroupReport {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t judged = 0;  // phases of objects
  bool is_confined = false;
};

struct Report {
  uint64_t announced = 0;
  uint64_t ignored = 0;  // for lack of room
  uint64_t traps = 0;
  uint64_t spent_us = 0;
  uint64_t windows = 0;
  uint64_t rate = 0;
};

class LiveWatch final : private watch::Actions, private traps::Listener {
 public:
  LiveWatch(const Settings& settings, const HaloSpanControl& control, CommandQueue& queue);

  // To be called by the thread that is going to call `serve`.
  traps::Refusal open();
  // Serves traps and commands for a while: a pass.
  void serve();
  // Must be called by that thread before it ends.
  void close();

  const volatile char* bell() const { return traps_.bell(); }
  // For any thread. False only if no page is armed, and every child has the content of those that
  // were.
  bool may_have_armed() const { return may_have_armed_; }
  // For any thread: how often events were served. A child whose event was read before has its
  // content once the number changes.
  uint32_t passes() const { return passes_; }
  // For any thread. Nothing is armed while it is not 0, two passes later at the latest.
  std::atomic<uint32_t>& pauses() { return pauses_; }
  const std::vector<GroupReport>& groups() const { return groups_; }
  const watch::Monitor& monitor() const { return monitor_; }
  Report report() const;
  // Nothing if groups are not confined by colours.
  std::optional<ConfinerReport> confiner_report() const;

 private:
  static constexpr uint32_t kMaxSpans = 4096;
  static constexpr uint32_t kMaxWatched = 2048;  // pages of the monitor
  static constexpr uint32_t kMaxPages = 4096;    // armed, under stress
  static constexpr int64_t kIdleTickNs = 20'000'000;
  static constexpr int64_t kTickNs = 1'000'000;
  static constexpr uint32_t kPhasesToSwitch = 2;

  struct LiveSpan {
    uintptr_t begin = 0, end = 0;  // whole pages; 0: free
    uintptr_t address = 0;
    size_t bytes = 0;
    uint32_t group = 0;
    uint32_t polluter_phases = 0;  // in a row, while it is not confined
    bool is_in_ring = false;
    bool is_switched = false;  // to frames of the colours, or about to be
  };

  static watch::Parameters parameters_of(const Settings& settings);
  watch::Now now();
  void pass();
  void rest();
  void drop_lost();
  void obey(const Command& command);
  void begin(const Command& command);
  void end(void* p);
  void arm_everything();
  void open_window();
  void close_window();
  void watch_span(const LiveSpan& span);
  void learn();
  void confine_by_colours(Confiner& confiner, uint64_t time);
  void work_by_colours(Confiner& confiner, uint64_t time);
  void mark_first(watch::Page page);
  void unmark(watch::Page page);

  void arm(watch::Page page) override;
  void disarm(watch::Page page) override;
  void move(uint64_t, watch::Mapping) override {}
  void sample(watch::Page page, bool is_miss) override;
  void judge(uint64_t address, watch::ContextIndex group, uint64_t hits, uint64_t misses) override;
  uint64_t misses_between(const watch::Counters& from, const watch::Counters&) const override {
    return sample_.lines_since(from.misses);
  }

  void accessed(uintptr_t page) override;
  void lost(uintptr_t page) override;
  void rung() override;

  Settings settings_;
  const HaloSpanControl& control_;
  CommandQueue& queue_;
  traps::Traps traps_;
  std::optional<Confiner> confiner_;
  PageSample sample_;
  Budget budget_;
  watch::Monitor monitor_;
  std::vector<LiveSpan> spans_;
  std::vector<uint32_t> free_spans_;
  watch::NumberMap by_address_;     // spans
  std::vector<uintptr_t> retries_;  // pages that could not be armed for their first reference
  std::vector<watch::Page> lost_;   // pages whose second reference will not be seen
  // Pages that had their first reference, so that they are armed for their second one next.
  watch::NumberMap had_first_;
  uint32_t first_count_ = 0;
  std::vector<GroupReport> groups_;
  std::atomic<bool> may_have_armed_{false};
  std::atomic<uint32_t> passes_{0}, pauses_{0};
  uint32_t stress_ticks_ = 0;
  uint64_t rearmed_ns_ = 0;  // when pages were last armed again
  uint64_t announced_ = 0;
  uint64_t ignored_ = 0;
};

}  // namespace halo::watching
