// The events of all threads of a trace in one order: an access follows its object's allocation and
// precedes its free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "recorder/events/epoch_merge.h"
#include "tracing/format/logged.h"

namespace halo::trace {

inline bool is_marker(const Logged& event) { return event.site == uint64_t(Marker::kEpoch); }
// For the merge.
inline uint64_t key_in(const Logged& event) { return is_marker(event) ? event.word1 : 0; }

}  // namespace halo::trace

namespace halo::trace_tool {

// Events of a thread that are not consumed yet. Positions count since the start.
class EventQueue {
 public:
  void put(std::span<const trace::Logged> events);
  uint64_t end() const { return first_ + events_.size(); }

  const trace::Logged& at(uint64_t position) const { return events_[position - first_]; }
  std::span<const trace::Logged> contiguous(uint64_t from, uint64_t to) const {
    return std::span(events_).subspan(from - first_, to - from);
  }
  // Consumes all events before this position; the next put() frees their memory.
  void release(uint64_t up_to) { released_ = up_to; }

 private:
  std::vector<trace::Logged> events_;
  uint64_t first_ = 0;  // position of events_[0]
  uint64_t released_ = 0;
};

// Buffers the events between two round marks, and those that a thread wrote ahead of the mark.
class OrderedEvents {
 public:
  void put(uint32_t thread, std::span<const trace::Logged> events);

  // Passes all events below a key to handler(thread, span). The spans may contain kEpoch markers.
  template <class Handler>
  void take_below(uint64_t limit_key, Handler&& handler) {
    std::vector<Source*> sources;
    for (auto& [thread, one] : threads_) {
      one->source.end = one->queue.end();
      sources.push_back(&one->source);
    }
    events::merge_round(std::span(sources), limit_key, handler);
  }
  // Passes all remaining events, at the end of a trace.
  template <class Handler>
  void take_rest(Handler&& handler) {
    take_below(UINT64_MAX, handler);
  }

 private:
  using Source = events::MergeSourceOf<EventQueue>;
  struct Thread {
    EventQueue queue;
    Source source;
  };

  std::map<uint32_t, std::unique_ptr<Thread>> threads_;  // unique_ptr: their addresses must not
                                                         // change
};

}  // namespace halo::trace_tool
