// Keeps the trace, and finds the streams at the end.
#include "sinks/hot_stream_sink.h"

#include <exception>
#include <stdexcept>

namespace halo::sinks {

void HotStreamSink::begin(const Parameters& parameters) {
  most_references_ = parameters.stream_references;
  if (most_references_ == 0) return;
  if (births_ == nullptr) births_ = std::make_unique<MappedArray<Birth>>(1ULL << 30, 1ULL << 16);
  trace_ = std::make_unique<Trace>();
  newest_.clear();
}

void HotStreamSink::note_birth(const Object& object) {
  if (object.seq >= births_->size()) return;
  (*births_)[object.seq] = {object.address, object.size, object.context};
  births_end_ = object.seq + 1;
}

void HotStreamSink::append(uint32_t thread, uint64_t seq) {
  if (trace_->references >= most_references_ || seq >= births_end_) {
    ++trace_->dropped;
    return;
  }
  ++trace_->references;
  try {
    trace_->grammar.append(thread, uint32_t(seq));
  } catch (const std::length_error&) {
    most_references_ = trace_->references;
  }
}

StreamTrace HotStreamSink::finish() const {
  if (most_references_ == 0) return {};
  return {.recorded = true,
          .hot = streams(),
          .dropped = trace_->dropped,
          .symbols = trace_->grammar.symbols(),
          .births = {births_->data(), births_end_}};
}

// None where there is no memory to find them: all else that was recorded is worth keeping.
HotStreams HotStreamSink::streams() const {
  try {
    return find_hot_streams(trace_->grammar, {});
  } catch (const std::exception&) {
    return {.references = trace_->references, .covered = 0, .threshold = 0, .streams = {}};
  }
}

}  // namespace halo::sinks
