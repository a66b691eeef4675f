// The trace as frames (trace/file/frames.h): what file, socket and pipe have in common.
#pragma once

#include "logging/output/output.h"
#include "logging/output/second_packer.h"
#include "trace/file/packing.h"

namespace halo::logging {

class FrameOutput : public Output {
 public:
  bool begin(std::string_view about) final;
  bool module(const LoggedModule& module) final;
  bool maps(std::string_view json) final;
  bool events(uint32_t thread, std::span<const trace::Logged> events) final;
  bool round(uint64_t limit_key) final;
  bool end(trace::file::EndNote& note) override;

  // For the functions of trace/file/trace_writer.h.
  bool write(const void* bytes, size_t count) { return put(bytes, count); }

 protected:
  ~FrameOutput() = default;

  virtual bool open() { return false; }
  // All of it, or false with errno.
  virtual bool put(const void* /*bytes*/, size_t /*count*/) { return false; }
  // A frame has been written, which holds so many events.
  virtual void frame_done(uint64_t /*events*/) {}

  bool end_frame(const trace::file::EndNote& note);
  // In a forked child.
  void forget() {
    packer_ = nullptr;
    second_.forget();
    written_ = dropped_ = 0;
  }

  uint64_t written_ = 0;  // events

 private:
  bool done(bool ok, uint64_t events = 0) {
    if (ok) frame_done(events);
    return ok;
  }

  bool write_block(uint32_t thread, std::span<const std::byte> packed, uint64_t events);
  // What the second packer has got comes before all that follows.
  bool write_pending();

  SecondPacker second_;
  uint64_t dropped_ = 0;  // events that could not be written, and of which nobody was told

  // Made in place, as nothing of ours is on the heap; a forked child makes its own.
  trace::file::Packer* packer_ = nullptr;
  alignas(trace::file::Packer) char packer_memory_[sizeof(trace::file::Packer)]{};
};

}  // namespace halo::logging
