// A packer in its own thread, so that two blocks are packed at the same time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tracing/format/packing.h"

namespace halo::logging {

// Its packer predicts from the blocks that it has packed itself. One thread at a time uses it.
//
// The user fills the block and then changes the state word; the packing thread does the same with
// the result. The state's release and acquire accesses pass the memory on, so no lock is needed.
class BackgroundPacker {
 public:
  // Without a second processor, memory or a thread, it stays unavailable: submit() always returns
  // false.
  void begin();
  // As Packer::add_sites; nothing may be pending.
  void add_sites(std::span<const trace::SiteTraits> sites);

  // Copies the events and starts packing them. Returns false if it is busy or unavailable.
  bool submit(uint32_t thread, std::span<const trace::Logged> events);
  bool pending() const { return events_ != 0; }
  uint32_t thread() const { return thread_; }
  size_t events() const { return events_; }
  // Waits for the pending block; the result is valid until the next submit().
  std::span<const std::byte> take();

  // Ends the thread, which would keep a process alive whose other threads have ended. Final.
  void stop();

  // Called in a forked child, which does not have the thread.
  void reset();

 private:
  enum State : uint32_t { kIdle, kSubmitted, kPacked };

  static void* run(void* self);
  void work();

  trace::Packer* packer_ = nullptr;
  trace::Logged* block_ = nullptr;
  bool started_ = false;
  uint32_t thread_ = 0;
  size_t events_ = 0;
  std::span<const std::byte> packed_;
  std::atomic<uint32_t> state_{kIdle};
  std::atomic<bool> stopped_{false};
  alignas(trace::Packer) char packer_memory_[sizeof(trace::Packer)]{};
};

}  // namespace halo::logging
