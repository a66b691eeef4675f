// The consumer's end of a channel.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "record/channel/channel.h"

namespace halo::record::consumer {

// What an engine sends over a connection: the memory of a channel and, of a forked child, the
// connection to it.
struct Descriptors {
  int memory = -1;
  int connection = -1;
};

// Nothing where the connection has ended.
Descriptors receive(int connection);

class ChannelReader {
 public:
  // Owns both descriptors of the ends.
  explicit ChannelReader(const Descriptors& ends);
  ~ChannelReader();
  ChannelReader(const ChannelReader&) = delete;
  ChannelReader& operator=(const ChannelReader&) = delete;

  bool good() const { return base_ != nullptr; }
  pid_t process() const { return channel::header(base_).pid; }
  uint64_t instructions() const {
    return channel::header(base_).instructions.load(std::memory_order_relaxed);
  }
  int connection() const { return ends_.connection; }

  // Waits a moment for the next chunk. Empty where there is none.
  std::span<const uint64_t> next();
  // The chunk has been consumed.
  void give_back();
  // Whether the engine's side is still there. A chunk may have come just before it went.
  bool connected() const;

 private:
  Descriptors ends_;
  void* base_ = nullptr;
};

}  // namespace halo::record::consumer
