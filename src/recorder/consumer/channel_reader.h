// The consumer's end of a channel.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "recorder/channel/channel.h"

namespace halo::consumer {

// The descriptors that an engine sends over a connection: the memory of a channel and, for a forked
// child, the connection to it.
struct Descriptors {
  int memory = -1;
  int connection = -1;
};

// Empty if the connection has ended.
Descriptors receive(int connection);

class ChannelReader {
 public:
  // Takes ownership of both descriptors.
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

  // Waits briefly for the next chunk. Empty if none came.
  std::span<const uint64_t> next();
  // Returns the consumed chunk.
  void release();
  // Whether the engine is still connected. A chunk may have arrived just before it ended.
  bool connected() const;

 private:
  Descriptors ends_;
  void* base_ = nullptr;
};

}  // namespace halo::consumer
