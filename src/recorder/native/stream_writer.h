// The producer's end of a stream.
#pragma once

#include <cstdint>

#include "recorder/channel/streams.h"
#include "recorder/events/epoch_merge.h"

namespace halo::native {

// One thread uses it. A signal handler that interrupts a member must not use it (Busy in engine.h).
class StreamWriter {
 public:
  // Continues a stream that this thread has taken. `lost` is called while there is no room; if it
  // returns true, all further records are dropped.
  // `weigh` returns the weight of a part of a burst.
  void begin(channel::StreamsHeader& header, channel::Stream& stream, events::Record* records,
             bool (*lost)(), uint64_t (*weigh)()) {
    header_ = &header;
    stream_ = &stream;
    records_ = records;
    lost_ = lost;
    weigh_ = weigh;
    head_ = stream.head.load(std::memory_order_relaxed);
    limit_ = head_;
    stream.held.store(0, std::memory_order_release);
  }
  bool good() const { return stream_ != nullptr; }

  // Waits until `count` records fit; at most channel::kStreamRecords.
  void reserve(uint64_t count) {
    if (holds_ && head_ + count - part_ > kMaxHeld) [[unlikely]]
      settle();
    if (head_ + count > limit_) [[unlikely]]
      make_room(count);
  }
  void put(events::Record record) { records_[head_++ % channel::kStreamRecords] = record; }
  void publish() {
    stream_->written.store(head_, std::memory_order_release);
    if (!holds_) stream_->head.store(head_, std::memory_order_release);
  }
  // Returns when the consumer has consumed all records.
  void drain() {
    settle();
    wait_until(head_);
  }

  // The next part is the first one of another burst.
  void begin_burst(bool is_exact) {
    scope_ = is_exact ? events::BurstScope::kThreadExact : events::BurstScope::kThread;
  }
  // Accesses of a burst follow. They are held back until their weight is known, in settle().
  void begin_part() {
    if (holds_) return;
    reserve(1);
    // Sequentially consistent: it precedes all later epochs.
    stream_->held.store(channel::take_epoch());
    holds_ = true;
    part_ = head_;
    put(part(1));
  }
  void settle() {
    if (!holds_) return;
    records_[part_ % channel::kStreamRecords] = part(weigh_());
    holds_ = false;
    scope_ = events::BurstScope::kGoesOn;
    publish();
    stream_->held.store(0, std::memory_order_release);
  }

  // The present epoch. 0 as long as there has been one thread: what it writes precedes whatever
  // another one will write.
  uint64_t epoch() const {
    return header_->used.load(std::memory_order_relaxed) <= 1 ? 0 : channel::take_epoch();
  }
  // What follows is of the present epoch.
  void mark_epoch() {
    if (const uint64_t now = epoch(); now != 0)
      put(events::Record::make(events::Kind::kEpoch, 0, now));
  }

 private:
  static constexpr uint64_t kMaxHeld = channel::kStreamRecords / 2;
  // After this number of records, a consumer that sleeps is woken.
  static constexpr uint64_t kWakes = channel::kStreamRecords / 4;

  events::Record part(uint64_t weight) const {
    return events::Record::make(events::Kind::kBurst, uint64_t(scope_), weight);
  }
  // Until the consumer has consumed up to `tail`. Returns its position.
  uint64_t wait_until(uint64_t tail);
  void wake_consumer();
  void make_room(uint64_t count);

  channel::StreamsHeader* header_ = nullptr;
  channel::Stream* stream_ = nullptr;
  events::Record* records_ = nullptr;
  bool (*lost_)() = nullptr;
  uint64_t (*weigh_)() = nullptr;
  uint64_t head_ = 0;
  uint64_t limit_ = 0;  // up to here is room, and no consumer is to be woken
  uint64_t part_ = 0;   // where the part of a burst begins that is held back
  events::BurstScope scope_ = events::BurstScope::kThread;
  bool holds_ = false;
};

}  // namespace halo::native
