// Connects the trace reader to a consumer: orders events and checks site numbers.
#include "tracing/tool/trace_input.h"

#include <cstring>
#include <string>

#include "tracing/format/trace_reader.h"
#include "tracing/tool/ordered_events.h"

namespace halo::trace_tool {

namespace {

TraceEnd end_of(const trace::EndNote& note) {
  TraceEnd end{.ending = "complete", .detail = "", .lost = note.lost};
  switch (note.ending) {
    case trace::Ending::kComplete:
      break;
    case trace::Ending::kSignal:
      end.ending = "signal";
      end.detail = "The program was killed by signal " + std::to_string(note.detail) + ".";
      break;
    case trace::Ending::kNoSpace:
      end.ending = "no-space";
      end.detail = std::string("The trace could not be written any further: ") +
                   strerror(int(note.detail)) + ".";
      break;
    case trace::Ending::kExec:
      end.ending = "exec";
      end.detail = "The program became another one (exec).";
      break;
  }
  return end;
}

struct HandOver {
  TraceConsumer& consumer;
  void operator()(base::ThreadId thread, std::span<const trace::Logged> events) const {
    consumer.events(base::index(thread), events);
  }
};

class Ordering : public trace::TraceVisitor {
 public:
  explicit Ordering(TraceConsumer& consumer) : consumer_(consumer) { consumer.begin(sites_); }

  void metadata(std::string_view json) override {
    begun_ = true;
    consumer_.metadata(json);
  }
  void maps(std::string_view json) override { consumer_.maps(json); }
  void module(const trace::Module& module) override {
    const auto types = int32_t(sites_.types().size());
    sites_.add(module);
    consumer_.module({.text = sites_.modules().back(),
                      .sites_end = sites_.end(),
                      .types = types,
                      .types_end = int32_t(sites_.types().size())});
  }
  void events(uint32_t thread, std::span<const trace::Logged> events) override {
    for (const trace::Logged& event : events) {
      if (event.site >= trace::kMarkers && !sites_.contains(event.site))
        throw trace::TraceError("The trace is damaged: an event refers to an unknown site.");
    }
    events_.put(thread, events);
  }
  void round(uint64_t limit_key) override {
    events_.take_below(limit_key, HandOver{consumer_});
    consumer_.pause();
  }
  void end(const trace::EndNote& note) override { end_ = end_of(note); }

  void stop_at_damage(const char* what) {
    end_ = {.ending = "cut-short", .detail = std::string(what) + "."};
    if (begun_) finish();
  }
  void finish() {
    events_.take_rest(HandOver{consumer_});
    consumer_.end(end_);
  }

 private:
  TraceConsumer& consumer_;
  SiteTable sites_;
  OrderedEvents events_;
  bool begun_ = false;
  TraceEnd end_{.ending = "cut-short",
                .detail =
                    "The trace ends without an end: the program was killed or is still"
                    " running, or the file is not all of it."};
};

}  // namespace

void read_trace(int descriptor, TraceConsumer& consumer) {
  Ordering ordering(consumer);
  try {
    trace::TraceReader(descriptor).read(ordering);
  } catch (const trace::TraceError& error) {
    ordering.stop_at_damage(error.what());
    throw;
  }
  ordering.finish();
}

}  // namespace halo::trace_tool
