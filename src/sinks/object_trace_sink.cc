// The file of the object trace sink.
#include "sinks/object_trace_sink.h"

namespace halo::sinks {

void ObjectTraceSink::begin(const Options& options) {
  if (options.path.empty()) return;
  if (process_ == 0) {
    process_ = getpid();
    auto writer = std::make_unique<objects::TraceWriter>(options.path);
    if (writer->complete()) writer_ = std::move(writer);
  } else if (process_ != getpid()) {
    writer_.reset();
  } else if (writer_ != nullptr) {
    writer_->restart();
    for (const HugePagesEvent& huge : huge_pages_) writer_->huge_pages(huge.address, huge.bytes);
  }
}

ObjectTraceSink::Result ObjectTraceSink::finish() const {
  if (writer_ != nullptr) writer_->finish();
  return {};
}

}  // namespace halo::sinks
