// Usage counts of each allocation context, and the totals.
#pragma once

#include <cstdint>
#include <vector>

#include "recorder/analysis/sink.h"
#include "recorder/analysis/size_sketch.h"

namespace halo::sinks {

struct ContextUsage {
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t bytes = 0;
  uint32_t min_size = 0;
  uint32_t max_size = 0;
  std::vector<SizeCount> sizes;
  uint64_t peak_live_bytes = 0;
  uint32_t alignment = 0;
};

struct UsageResult {
  std::vector<ContextUsage> contexts;  // by context
  uint64_t allocations = 0;
  uint64_t frees = 0;
  uint64_t machine_accesses = 0;
  uint64_t peak_live_bytes = 0;
  uint64_t final_live_bytes = 0;
};

class ContextSink : public Sink {
 public:
  using Result = UsageResult;
  using Sink::on_event;
  using Sink::Sink;

  void begin(const Options&);
  Result finish() const;

  static bool has_activity(const Result& result) {
    return result.allocations + result.frees + result.machine_accesses != 0;
  }
  static bool has_activity_in(const Result& result, base::ContextId context);
  static void write_context(const Result& result, base::ContextId context, Part& part);
  static void write_totals(const Result& result, Part& part);

  void on_event(const AllocEvent& event);
  void on_event(const FreeEvent& event);
  void on_event(const ReviveEvent& event);
  void on_event(const AccessEvent& event) {
    machine_accesses_ += event.weight;
    if (event.alignment != 0) record_alignment(event);
  }
  void on_event(const RepeatEvent& event) { machine_accesses_ += event.count * event.weight; }

 private:
  struct State {
    ContextUsage usage;
    SizeSketch sketch;
    uint64_t live_bytes = 0;
  };

  State& state_of(const Object* object);
  void record_alignment(const AccessEvent& event);

  std::vector<State> states_;  // by context
  uint64_t live_bytes_ = 0;
  uint64_t peak_live_bytes_ = 0;
  uint64_t machine_accesses_ = 0;
};

}  // namespace halo::sinks
