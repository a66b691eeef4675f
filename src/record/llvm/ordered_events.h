// The events of a trace in one order: an access comes after its object's allocation and before its
// free, whichever threads they are by.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "trace/epoch_merge.h"
#include "trace/logged.h"

namespace halo::trace {

// What the merge asks of a queue's records.
inline bool is_marker(const Logged& event) { return event.site == uint64_t(Marker::kEpoch); }
inline uint64_t marked_key(const Logged& event) { return event.word1; }

}  // namespace halo::trace

namespace halo::record::llvm {

// What a thread has written and nobody has taken. Positions count from the beginning of time.
class EventQueue {
 public:
  void put(std::span<const trace::Logged> events);
  uint64_t end() const { return first_ + events_.size(); }

  const trace::Logged& at(uint64_t position) const { return events_[position - first_]; }
  std::span<const trace::Logged> contiguous(uint64_t from, uint64_t to) const {
    return std::span(events_).subspan(from - first_, to - from);
  }
  // All before this position has been taken; its memory is free at the next put().
  void release(uint64_t up_to) { released_ = up_to; }

 private:
  std::vector<trace::Logged> events_;
  uint64_t first_ = 0;  // position of events_[0]
  uint64_t released_ = 0;
};

// Keeps what lies between two round marks in memory, and what a thread wrote ahead of the mark.
class OrderedEvents {
 public:
  void put(uint32_t thread, std::span<const trace::Logged> events);

  // Hands what precedes a key to handler(thread, span). The spans may hold kEpoch markers.
  template <class Handler>
  void take_below(uint64_t limit_key, Handler&& handler) {
    std::vector<Source*> sources;
    for (auto& [thread, one] : threads_) {
      one->source.end = one->queue.end();
      sources.push_back(&one->source);
    }
    trace::merge_round(std::span(sources), limit_key, handler);
  }
  // All that is left: at the end of a trace.
  template <class Handler>
  void take_rest(Handler&& handler) {
    take_below(UINT64_MAX, handler);
  }

 private:
  using Source = trace::MergeSourceOf<EventQueue>;
  struct Thread {
    EventQueue queue;
    Source source;
  };

  std::map<uint32_t, std::unique_ptr<Thread>> threads_;  // stay where they are
};

}  // namespace halo::record::llvm
