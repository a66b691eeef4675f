// The trace as frames (trace/frames.h): the common part of file, socket and pipe.
#pragma once

#include "tracing/format/packing.h"
#include "tracing/library/output/background_packer.h"
#include "tracing/library/output/output.h"

namespace halo::logging {

class FrameOutput : public Output {
 public:
  bool begin(std::string_view metadata) final;
  bool module(const LoggedModule& module) final;
  bool maps(std::string_view json) final;
  bool events(uint32_t thread, std::span<const trace::Logged> events) final;
  bool round(uint64_t limit_key) final;
  bool end(trace::EndNote& note) override;
  void stop() final { background_.stop(); }

  // The interface that trace/trace_writer.h needs.
  bool write(const void* bytes, size_t count) { return put(bytes, count); }

 protected:
  ~FrameOutput() = default;

  virtual bool open() { return false; }
  // Writes all bytes, or returns false with errno.
  virtual bool put(const void* /*bytes*/, size_t /*count*/) { return false; }
  // Called after a frame with that number of events was written.
  virtual void frame_done(uint64_t /*events*/) {}

  bool end_frame(const trace::EndNote& note);
  // Called in a forked child.
  void reset() {
    packer_ = nullptr;
    background_.reset();
    written_ = dropped_ = 0;
  }

  uint64_t written_ = 0;  // events
  uint64_t dropped_ = 0;  // events that could not be written and are not reported in the trace yet

 private:
  bool done(bool ok, uint64_t events = 0) {
    if (ok) frame_done(events);
    return ok;
  }

  bool write_block(uint32_t thread, std::span<const std::byte> packed, uint64_t events);
  // Events of the background packer precede all later ones.
  bool write_pending();

  BackgroundPacker background_;

  // Constructed in place, since the library does not use the heap; a forked child constructs its
  // own.
  trace::Packer* packer_ = nullptr;
  alignas(trace::Packer) char packer_memory_[sizeof(trace::Packer)]{};
};

}  // namespace halo::logging
