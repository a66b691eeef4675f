// Converts records to results: resolves each address to an object and passes the events to all
// sinks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "recorder/analysis/object_table.h"
#include "recorder/analysis/parameters.h"
#include "recorder/analysis/shadow_map.h"
#include "recorder/events/record.h"

namespace halo::sinks {

struct AnalysisResult {
  Parameters parameters;
  std::vector<base::NodeId> context_nodes;  // by context
  SinkList::Results sinks;
  uint64_t untracked = 0;  // allocations above the size limit (or beyond the table's capacity)

  template <class Result>
  const Result& of() const {
    return std::get<Result>(sinks);
  }
};

class Analysis {
 public:
  explicit Analysis(const Parameters& parameters);

  // Sets the process of the records; may precede them.
  void set_process(pid_t process) { emit(ProcessEvent{process}); }
  // Consumes the next records of one thread. The caller orders the records of different threads.
  void consume(base::ThreadId thread, std::span<const events::Record> records) {
    consume(thread, records, 0, records.size());
  }
  // The same for the records from `begin` to `end`; those of other threads follow them.
  void consume(base::ThreadId thread, std::span<const events::Record> records, size_t begin,
               size_t end);

  // Keeps live objects, but resets all counts: for a forked child.
  void restart_counts();

  AnalysisResult finish() const;

  uint64_t objects_seen() const { return objects_.allocated(); }
  uint64_t accesses_seen() const { return accesses_seen_; }

 private:
  struct ThreadState {
    uint64_t alloc_address = 0;  // a kAlloc record that awaits its kContext
    uint64_t alloc_size = 0;
    base::ObjectId freed{};     // by the latest kFree
    uint64_t freed_number = 0;  // of that allocation
    uint64_t weight = 1;        // of each access
    bool accessed_tracked = false;
  };

  void on_repeats(base::ThreadId thread, const ThreadState& state, uint32_t count);
  void on_access(base::ThreadId thread, ThreadState& state, const events::Record& record);
  void on_other(base::ThreadId thread, ThreadState& state, const events::Record& record);
  void allocate(base::ThreadId thread, ThreadState& state, base::NodeId node);
  void free(base::ThreadId thread, ThreadState& state, uint64_t address);
  void begin_burst(base::ThreadId thread, events::BurstScope scope, uint64_t weight);
  base::ContextId context_of(base::NodeId node);
  void prefetch_ahead(std::span<const events::Record> records, size_t at) const;

  template <class Event>
  void emit(const Event& event) {
    std::apply([&](auto&... sink) { (sink.on_event(event), ...); }, sinks_);
  }

  void begin_sinks();

  const Parameters parameters_;
  const bool all_accesses_;  // the sinks need them
  ShadowMap map_;
  ObjectTable objects_;
  SinkList::Instances sinks_;
  std::vector<ThreadState> threads_;
  uint64_t weight_ = 1;                    // of new threads' accesses
  std::vector<uint32_t> context_of_node_;  // context + 1; 0: none yet
  std::vector<base::NodeId> context_nodes_;
  uint64_t untracked_ = 0;
  uint64_t accesses_seen_ = 0;
};

}  // namespace halo::sinks
