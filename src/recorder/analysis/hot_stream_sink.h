// The object reference trace, stored as a grammar to find its hot data streams.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "base/mapped_array.h"
#include "recorder/analysis/sink.h"
#include "recorder/analysis/streams/co_allocation.h"
#include "recorder/analysis/streams/hot_streams.h"
#include "recorder/analysis/streams/sequitur.h"

namespace halo::sinks {

struct StreamTrace {
  bool recorded = false;
  HotStreams hot;                 // its terminals are indices into `births`
  uint64_t dropped = 0;           // references beyond the maximum length of the trace
  uint64_t symbols = 0;           // of the grammar
  std::span<const Birth> births;  // owned by the sink
};

// A reference is a macro-level access of a thread to an object, as for the affinity graph.
class HotStreamSink : public Sink {
 public:
  using Result = StreamTrace;
  using Sink::on_event;
  using Sink::Sink;

  struct Options {
    uint64_t references = 0;  // maximum length of the trace for hot data streams; 0: no trace
  };
  static constexpr auto options() {
    return std::tuple{NumberOption{"streams", &Options::references, 1ul << 31}};
  }

  void begin(const Options& options);
  Result finish() const;

  static void write(const Result& trace, Part& part);

  void on_event(const AllocEvent& event) {
    if (max_references_ != 0) record_birth(*event.object);
  }
  void on_event(const AccessEvent& event) {
    if (max_references_ != 0) record_reference(base::index(event.thread), event.object->seq);
  }
  void on_event(const ThreadEndEvent& event) {
    if (base::index(event.thread) < newest_.size()) newest_[base::index(event.thread)] = 0;
  }

 private:
  // Objects by number of allocation.
  struct Trace {
    Sequitur grammar;
    uint64_t references = 0;
    uint64_t dropped = 0;
  };

  void record_birth(const Object& object);
  void record_reference(uint32_t thread, uint64_t seq) {
    if (thread >= newest_.size()) newest_.resize(thread + 1);
    if (newest_[thread] == seq) return;
    newest_[thread] = seq;
    append(thread, seq);
  }
  void append(uint32_t thread, uint64_t seq);
  HotStreams streams() const;

  uint64_t max_references_ = 0;  // 0: no trace is stored
  std::unique_ptr<base::MappedArray<Birth>> births_;
  uint64_t births_end_ = 0;
  std::unique_ptr<Trace> trace_;
  std::vector<uint64_t> newest_;  // by thread: the object accessed last
};

}  // namespace halo::sinks
