// A packer that works in a thread of its own, so that two blocks are packed at the same time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "trace/file/packing.h"

namespace halo::logging {

// Its packer predicts from the blocks that it has packed itself. Used by one thread at a time.
class SecondPacker {
 public:
  // Without a second processor, memory or a thread there is none: give() refuses all.
  void begin();
  // As Packer::add_sites, while nothing is pending.
  void add_sites(std::span<const trace::file::SiteTraits> sites);

  // Copies the events and begins to pack them. False where it is busy or not there.
  bool give(uint32_t thread, std::span<const trace::Logged> events);
  bool pending() const { return events_ != 0; }
  uint32_t thread() const { return thread_; }
  size_t events() const { return events_; }
  // Waits for what is pending; valid until the next give().
  std::span<const std::byte> take();

  // In a forked child, which has not got the thread.
  void forget();

 private:
  enum State : uint32_t { kIdle, kGiven, kPacked };

  static void* run(void* self);
  [[noreturn]] void work();

  trace::file::Packer* packer_ = nullptr;
  trace::Logged* block_ = nullptr;
  bool started_ = false;
  uint32_t thread_ = 0;
  size_t events_ = 0;
  std::span<const std::byte> packed_;
  std::atomic<uint32_t> state_{kIdle};
  alignas(trace::file::Packer) char packer_memory_[sizeof(trace::file::Packer)]{};
};

}  // namespace halo::logging
