// A bounded single-producer single-consumer queue of records.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "recorder/events/record.h"

namespace halo::events {

// One thread produces, one consumes; lock-free. `head_` is written only by the producer and `tail_`
// only by the consumer, both with release, and each is read by the other with acquire. So records
// are complete when they are read, and are read before their places are reused. Invariant: tail_ <=
// head_ <= tail_ + capacity; positions never wrap.
//
// Each position has a cache line of its own, and the producer keeps copies of both, so that it
// rarely reads the consumer's line.
class Ring {
 public:
  // `capacity` is a power of two.
  explicit Ring(size_t capacity) : mask_(capacity - 1), records_(new Record[capacity]) {}

  // Producer: whether `count` records fit. Reads the consumer's position only if necessary.
  bool has_room(size_t count) {
    if (head_copy_ + count - tail_copy_ <= mask_ + 1) return true;
    tail_copy_ = tail_.load(std::memory_order_acquire);
    return head_copy_ + count - tail_copy_ <= mask_ + 1;
  }
  // Producer: there must be room. publish() makes the record visible to the consumer.
  void put(Record record) { records_[head_copy_++ & mask_] = record; }
  void publish() { head_.store(head_copy_, std::memory_order_release); }

  // Consumer: positions count records since the start.
  uint64_t published() const { return head_.load(std::memory_order_acquire); }
  void release(uint64_t up_to) { tail_.store(up_to, std::memory_order_release); }
  const Record& at(uint64_t position) const { return records_[position & mask_]; }

  // Consumer: the contiguous part of [from, to) that starts at `from`.
  std::span<const Record> contiguous(uint64_t from, uint64_t to) const {
    const uint64_t to_wrap = mask_ + 1 - (from & mask_);
    return {&records_[from & mask_], std::min<uint64_t>(to - from, to_wrap)};
  }

 private:
  const size_t mask_;
  const std::unique_ptr<Record[]> records_;
  alignas(64) std::atomic<uint64_t> head_{0};
  uint64_t head_copy_ = 0;  // the producer's own position
  uint64_t tail_copy_ = 0;  // the producer's last reading of tail_
  alignas(64) std::atomic<uint64_t> tail_{0};
};

}  // namespace halo::events
