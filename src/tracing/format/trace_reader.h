// Reads a trace, frame by frame, from a file, a pipe or a socket, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tracing/format/frames.h"
#include "tracing/format/packing.h"
#include "tracing/format/site.h"

namespace halo::trace {

// One sentence: the file is not a trace, a trace of a newer version, or damaged.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A module of the traced program, valid during the visitor's call. The sections are unchecked:
// SiteTable resolves them.
struct Module {
  ModuleHead head;
  std::string_view path;
  std::string_view build_id;
  std::span<const std::byte> sites;
  std::span<const std::byte> types;
  std::span<const std::byte> strings;
};

// Its functions are called in the order of the trace.
class TraceVisitor {
 public:
  virtual ~TraceVisitor() = default;
  virtual void metadata(std::string_view /*json*/) {}
  virtual void module(const Module&) {}
  virtual void maps(std::string_view /*json*/) {}
  virtual void events(uint32_t /*thread*/, std::span<const Logged>) {}
  virtual void round(uint64_t /*limit_key*/) {}
  virtual void end(const EndNote&) {}
};

enum class ReadResult {
  kComplete,  // up to its end frame
  kCutShort,  // it ends without an end frame; all whole frames were delivered
};

class TraceReader {
 public:
  // The caller keeps the descriptor.
  explicit TraceReader(int descriptor) : descriptor_(descriptor) {}
  // Throws TraceError after it has delivered all frames before the damage.
  ReadResult read(TraceVisitor& visitor);

 private:
  size_t read_some(std::byte* to, size_t bytes);
  void read_file_head();
  bool read_head(FrameHead& head);
  bool read_payload(const FrameHead& head);
  void deliver(const FrameHead& head, TraceVisitor& visitor);
  void deliver_module(TraceVisitor& visitor);
  void deliver_events(uint32_t head_thread, TraceVisitor& visitor);
  void add_sites(std::span<const std::byte> sites);
  [[noreturn]] void damaged(const char* what) const;

  template <class T>
  T whole_payload() const;
  std::string_view text() const {
    return {reinterpret_cast<const char*>(payload_.data()), payload_.size()};
  }

  int descriptor_;
  uint64_t at_ = 0;     // bytes read
  uint64_t frame_ = 0;  // start of the current frame
  bool begun_ = false;  // the first frame was delivered
  uint64_t next_site_ = kMarkers;
  Unpacker unpackers_[2];
  std::vector<std::byte> payload_;
  std::vector<Logged> events_;
};

}  // namespace halo::trace
