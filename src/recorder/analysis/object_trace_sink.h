// Writes an object trace (Miucin, section 3.2): every access, by object where it is to a tracked
// one.
#pragma once

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "recorder/analysis/phase.h"
#include "recorder/analysis/sink.h"
#include "recorder/objects/trace_writer.h"

namespace halo::sinks {

// The path of the file, which must not exist.
struct ObjectsOption {
  std::string_view name = "objects";

  template <class Options>
  bool set(std::string_view text, Options& options) const {
    options.path = text;
    return !text.empty();
  }
};

// Where the code of a phase is (phase.h).
struct PhaseOption {
  std::string_view name = "phase";

  template <class Options>
  bool set(std::string_view text, Options& options) const {
    options.phase = parse_phase(text);
    return options.phase.has_value();
  }
};

// The first process that opens the file is traced. Forked children are not: its file is their
// parent's.
class ObjectTraceSink : public Sink {
 public:
  // The absolute path of the trace; empty if this process is not traced.
  struct Result {
    std::string file;
  };
  using Sink::on_event;
  using Sink::Sink;

  struct Options {
    std::string path = {};
    std::optional<PhaseCode> phase = {};
  };
  static constexpr auto options() { return std::tuple{ObjectsOption{}, PhaseOption{}}; }
  static bool needs_all_accesses(const Options& options) { return !options.path.empty(); }

  void begin(const Options& options);
  Result finish() const;
  // The section "object_trace".
  static void write(const Result& result, Part& part);

  void on_event(const AllocEvent& event) {
    if (writer_ != nullptr) writer_->allocate(described(*event.object));
  }
  void on_event(const AlignedEvent& event) {
    if (writer_ != nullptr) writer_->align(event.object->seq);
  }
  void on_event(const ReallocatedEvent& event) {
    if (writer_ != nullptr) writer_->reallocate(event.object->seq, event.replaced);
  }
  void on_event(const FreeEvent& event) {
    if (writer_ != nullptr) writer_->free(event.object->seq);
  }
  void on_event(const ReviveEvent& event) {
    if (writer_ != nullptr) writer_->revive(event.object->seq);
  }
  void on_event(const HugePagesEvent& event) {
    huge_pages_.push_back(event);
    if (writer_ != nullptr) writer_->huge_pages(event.address, event.bytes);
  }
  void on_event(const ProcessEvent& event) {
    if (options_.phase && writer_ != nullptr) recorded_ = event.process;
  }
  void on_event(const PhaseEvent& event) {
    if (writer_ == nullptr) return;
    if (event.enters) {
      phase_.enter(writer_->accesses());
    } else {
      phase_.leave(writer_->accesses());
    }
  }
  void on_event(const MemoryEvent& event) {
    if (writer_ == nullptr) return;
    if (options_.phase) watch_phase(event.code);
    if (event.object == nullptr) {
      writer_->access_outside(event.thread, event.address, event.size, event.store);
      return;
    }
    const objects::Allocation object = described(*event.object);
    const auto offset = uint32_t(event.address - object.address);
    writer_->access(event.thread, object, offset, event.size, event.store);
  }
  void on_event(const MemoryRepeatEvent& event) {
    if (writer_ != nullptr) writer_->repeat(event.thread, event.count);
  }

 private:
  void watch_phase(uint64_t code) {
    // At its first access, a program's own file is mapped.
    if (recorded_ != 0 && options_.phase)
      phase_.locate(*options_.phase, std::exchange(recorded_, 0));
    phase_.access(code, writer_->accesses());
  }
  static objects::Allocation described(const Object& object) {
    return {object.seq, object.address, object.size, object.context};
  }

  std::unique_ptr<objects::TraceWriter> writer_;  // null unless this process is traced
  pid_t process_ = 0;                             // that created the file
  Options options_;
  pid_t recorded_ = 0;  // the process in which to find the phase's code, until it is found
  Phase phase_;
  std::vector<HugePagesEvent> huge_pages_;  // kept by begin(): they remain in force
};

}  // namespace halo::sinks
