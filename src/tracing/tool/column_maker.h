// Converts a trace to the blocks of columns (docs/trace-columns.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "simulator/hierarchy.h"
#include "tracing/tool/allocation_rows.h"
#include "tracing/tool/column_blocks.h"
#include "tracing/tool/trace_consumer.h"

namespace halo::trace_tool {

// All threads run on one simulated core, in the order of the events.
class ColumnMaker : public TraceConsumer {
 public:
  ColumnMaker(BlockOutput& output, const std::optional<simulator::Machine>& machine);

  void begin(const SiteTable& sites) override { sites_ = &sites; }
  void metadata(std::string_view json) override;
  void maps(std::string_view) override {}
  void module(const NewModule& module) override;
  void events(uint32_t thread, std::span<const trace::Logged> events) override;
  void pause() override;
  void end(const TraceEnd& end) override;

 private:
  // The data of a site that the columns need, stored compactly.
  struct Traits {
    trace::SiteKind kind;
    uint16_t size;
  };
  struct Thread {
    int32_t number = -1;         // in the columns; -1: no event yet
    trace::Logged allocation{};  // an allocation site's event that awaits its kCount
  };

  // The maximum number of events for which unresolved rows are kept back.
  static constexpr int64_t kMaxPending = 4096;

  Thread& thread(uint32_t number);
  void on_marker(Thread& thread, const trace::Logged& event);
  void on_site(Thread& thread, const trace::Logged& event);
  void on_access(Thread& thread, const trace::Logged& event, Traits traits);
  simulator::Reach reach(uint64_t address, uint64_t bytes, bool store);
  void flush();

  BlockOutput& output_;
  const SiteTable* sites_ = nullptr;
  std::vector<Traits> traits_;  // by site number
  uint32_t line_ = 64;
  std::unique_ptr<simulator::Hierarchy> hierarchy_;  // null: no simulation
  std::vector<Thread> threads_;                      // by number in the trace
  int32_t next_thread_ = 0;
  int64_t seq_ = 0;
  uint64_t lost_ = 0;
  AllocationRows rows_;
  AccessColumns accesses_;
  CallColumns calls_;
  AllocationColumns allocations_;
  FreeColumns frees_;
};

}  // namespace halo::trace_tool
