// The file of the object trace sink.
#include "recorder/analysis/object_trace_sink.h"

namespace halo::sinks {

void ObjectTraceSink::begin(const Options& options) {
  if (options.path.empty()) return;
  options_ = options;
  if (process_ == 0) {
    process_ = getpid();
    auto writer = std::make_unique<objects::TraceWriter>(options.path);
    if (writer->complete()) writer_ = std::move(writer);
  } else if (process_ != getpid()) {
    writer_.reset();
  } else if (writer_ != nullptr) {
    writer_->restart();
    phase_.restart();
    for (const HugePagesEvent& huge : huge_pages_) writer_->huge_pages(huge.address, huge.bytes);
  }
}

ObjectTraceSink::Result ObjectTraceSink::finish() const {
  if (writer_ == nullptr) return {};
  if (const auto span = phase_.span(writer_->accesses())) writer_->phase(span->first, span->last);
  writer_->finish();
  return {options_.path};
}

// The trace numbers contexts as they were found; the part has only those that were used.
void ObjectTraceSink::write(const Result& result, Part& part) {
  if (result.file.empty()) return;
  part.field("object_trace", [&] {
    part.field("file", result.file);
    part.key("contexts");
    part.list([&] {
      const auto& contexts = part.contexts();
      for (size_t at = 0; at < contexts.size(); ++at) part.row(at, contexts[at]);
    });
  });
}

}  // namespace halo::sinks
