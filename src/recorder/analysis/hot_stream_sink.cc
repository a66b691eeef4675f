// Stores the trace, and finds the streams at the end.
#include "recorder/analysis/hot_stream_sink.h"

#include <exception>
#include <stdexcept>

namespace halo::sinks {

void HotStreamSink::begin(const Options& options) {
  max_references_ = options.references;
  if (max_references_ == 0) return;
  if (births_ == nullptr)
    births_ = std::make_unique<base::MappedArray<Birth>>(1ULL << 30, 1ULL << 16);
  trace_ = std::make_unique<Trace>();
  newest_.clear();
}

void HotStreamSink::record_birth(const Object& object) {
  if (object.seq >= births_->size()) return;
  (*births_)[object.seq] = {object.address, object.size, object.context};
  births_end_ = object.seq + 1;
}

void HotStreamSink::append(uint32_t thread, uint64_t seq) {
  if (trace_->references >= max_references_ || seq >= births_end_) {
    ++trace_->dropped;
    return;
  }
  ++trace_->references;
  try {
    trace_->grammar.append(thread, uint32_t(seq));
  } catch (const std::length_error&) {
    max_references_ = trace_->references;
  }
}

StreamTrace HotStreamSink::finish() const {
  if (max_references_ == 0) return {};
  return {.recorded = true,
          .hot = streams(),
          .dropped = trace_->dropped,
          .symbols = trace_->grammar.symbols(),
          .births = {births_->data(), births_end_}};
}

// Empty if memory is lacking: the other results must not be lost.
HotStreams HotStreamSink::streams() const {
  try {
    return find_hot_streams(trace_->grammar, {});
  } catch (const std::exception&) {
    return {.references = trace_->references, .covered = 0, .threshold = 0, .streams = {}};
  }
}

void HotStreamSink::write(const Result& trace, Part& part) {
  if (!trace.recorded) return;
  part.field("hot_streams", [&] {
    part.fields("references", trace.hot.references, "dropped", trace.dropped, "symbols",
                trace.symbols, "threshold", trace.hot.threshold, "covered", trace.hot.covered,
                "streams", trace.hot.streams.size());
    const auto sets = co_allocation_sets(trace.hot, trace.births, part.sites());
    part.list("sets", sets, [&](const CoAllocationSet& set) {
      part.value([&] {
        part.key("sites");
        part.list([&] {
          for (const uint32_t site : set.sites) part.value(part.frame(site));
        });
        part.fields("streams", set.streams, "heat", set.heat, "saved", set.saved);
      });
    });
  });
}

}  // namespace halo::sinks
