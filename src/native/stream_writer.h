// The producer's end of a stream.
#pragma once

#include <cstdint>

#include "channel/streams.h"
#include "events/epoch_merge.h"

namespace halo::native {

// One thread uses it. A signal handler that interrupts a member must not use it (Busy in engine.h).
class StreamWriter {
 public:
  // Continues a stream that this thread has taken. `lost` is called while there is no room; if it
  // returns true, all further records are dropped.
  void begin(channel::StreamsHeader& header, channel::Stream& stream, events::Record* records,
             bool (*lost)()) {
    header_ = &header;
    stream_ = &stream;
    records_ = records;
    lost_ = lost;
    head_ = stream.head.load(std::memory_order_relaxed);
    tail_ = stream.tail.load(std::memory_order_acquire);
  }
  bool good() const { return stream_ != nullptr; }

  // Waits until `count` records fit; at most channel::kStreamRecords.
  void reserve(uint64_t count) {
    if (head_ + count - tail_ > channel::kStreamRecords) [[unlikely]]
      wait_until(head_ + count - channel::kStreamRecords);
  }
  void put(events::Record record) { records_[head_++ % channel::kStreamRecords] = record; }
  void publish() { stream_->head.store(head_, std::memory_order_release); }
  // Returns when the consumer has consumed all published records.
  void drain() { wait_until(head_); }

  // Advances the epoch, as an allocation or a free does (events/epoch_merge.h).
  void own_epoch() {
    epoch_ = header_->epoch.fetch_add(1, std::memory_order_acq_rel) + 1;
    put(events::Record::make(events::Kind::kEpoch, 0, events::owner_key(epoch_)));
  }
  // Marks what follows as later than the allocations and frees of other threads so far.
  void see_epoch() {
    const uint64_t epoch = header_->epoch.load(std::memory_order_acquire);
    if (epoch == epoch_) return;
    epoch_ = epoch;
    put(events::Record::make(events::Kind::kEpoch, 0, events::observer_key(epoch)));
  }

 private:
  void wait_until(uint64_t tail);

  channel::StreamsHeader* header_ = nullptr;
  channel::Stream* stream_ = nullptr;
  events::Record* records_ = nullptr;
  bool (*lost_)() = nullptr;
  uint64_t head_ = 0;
  uint64_t tail_ = 0;  // the latest reading of the consumer's position
  uint64_t epoch_ = 0;
};

}  // namespace halo::native
