// The counts and sections of the context sink.
#include "recorder/analysis/context_sink.h"

#include <algorithm>

namespace halo::sinks {

namespace {

ContextUsage usage_of(const UsageResult& result, base::ContextId context) {
  const uint32_t at = base::index(context);
  return at < result.contexts.size() ? result.contexts[at] : ContextUsage{};
}

}  // namespace

// Live objects remain, and are the start of the new peaks.
void ContextSink::begin(const Options&) {
  for (State& state : states_) {
    state = {.usage = {}, .sketch = {}, .live_bytes = state.live_bytes};
    state.usage.peak_live_bytes = state.live_bytes;
  }
  peak_live_bytes_ = live_bytes_;
  machine_accesses_ = 0;
}

ContextSink::State& ContextSink::state_of(const Object* object) {
  const uint32_t at = base::index(object->context);
  if (at >= states_.size()) states_.resize(at + 1);
  return states_[at];
}

void ContextSink::on_event(const AllocEvent& event) {
  State& state = state_of(event.object);
  ContextUsage& usage = state.usage;
  const uint32_t size = event.object->size;
  usage.min_size = usage.allocations == 0 ? size : std::min(usage.min_size, size);
  usage.max_size = std::max(usage.max_size, size);
  ++usage.allocations;
  usage.bytes += size;
  state.sketch.add(size);
  state.live_bytes += size;
  live_bytes_ += size;
  usage.peak_live_bytes = std::max(usage.peak_live_bytes, state.live_bytes);
  peak_live_bytes_ = std::max(peak_live_bytes_, live_bytes_);
}

void ContextSink::on_event(const FreeEvent& event) {
  State& state = state_of(event.object);
  ++state.usage.frees;
  state.live_bytes -= event.object->size;
  live_bytes_ -= event.object->size;
}

void ContextSink::on_event(const ReviveEvent& event) {
  State& state = state_of(event.object);
  --state.usage.frees;
  state.live_bytes += event.object->size;
  live_bytes_ += event.object->size;
}

void ContextSink::record_alignment(const AccessEvent& event) {
  uint32_t& alignment = state_of(event.object).usage.alignment;
  alignment = std::max(alignment, event.alignment);
}

UsageResult ContextSink::finish() const {
  UsageResult result;
  result.machine_accesses = machine_accesses_;
  result.peak_live_bytes = peak_live_bytes_;
  result.final_live_bytes = live_bytes_;
  for (const State& state : states_) {
    result.contexts.push_back(state.usage);
    result.contexts.back().sizes = state.sketch.top();
    result.allocations += state.usage.allocations;
    result.frees += state.usage.frees;
  }
  return result;
}

bool ContextSink::has_activity_in(const Result& result, base::ContextId context) {
  const ContextUsage usage = usage_of(result, context);
  return usage.allocations != 0 || usage.frees != 0 || usage.alignment != 0;
}

void ContextSink::write_context(const Result& result, base::ContextId context, Part& part) {
  const ContextUsage usage = usage_of(result, context);
  part.fields("allocations", usage.allocations, "frees", usage.frees, "bytes", usage.bytes,
              "min_size", usage.min_size, "max_size", usage.max_size);
  part.key("sizes");
  part.list([&] {
    for (const SizeCount& size : usage.sizes) part.row(size.size, size.count);
  });
  part.fields("peak_live_bytes", usage.peak_live_bytes, "alignment", usage.alignment);
}

void ContextSink::write_totals(const Result& result, Part& part) {
  part.fields("allocations", result.allocations, "frees", result.frees, "machine_accesses",
              result.machine_accesses, "peak_live_bytes", result.peak_live_bytes,
              "final_live_bytes", result.final_live_bytes);
}

}  // namespace halo::sinks
