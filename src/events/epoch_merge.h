// Merges the threads' rings into one stream in which an access follows its object's allocation and
// precedes its free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "events/ring.h"

namespace halo::events {

// Each allocation and each free advances a global epoch counter. A thread writes a marker into its
// ring when it reads a new epoch. The recorded program itself orders two events on one object, and
// the earlier one is published before the later one is issued. So the later one carries an epoch
// that is at least as high, and a higher one if it is an allocation or a free.
//
// The consumer first takes a limit from the counter and then reads the rings. A record that is
// published too late for this round carries at least the limit. It waits for a later round,
// together with all other records from the limit on.

// The allocation or free that created an epoch precedes all events that only read it.
constexpr uint64_t owner_key(uint64_t epoch) { return epoch * 2; }
constexpr uint64_t observer_key(uint64_t epoch) { return epoch * 2 + 1; }

// The accessors that a queue's record type must provide: whether it is a marker, and its key.
inline bool is_marker(const Record& record) { return record.kind() == Kind::kEpoch; }
inline uint64_t marked_key(const Record& record) { return record.word1; }

// `Queue` is the consumer's side of a ring: at(), contiguous() and release().
template <class Queue>
struct MergeSourceOf {
  base::ThreadId thread{};
  Queue* ring = nullptr;
  uint64_t key = 0;     // of the records at the cursor; kept between rounds
  uint64_t cursor = 0;  // all records before it are consumed
  uint64_t end = 0;     // end of the published records at the start of the round
};

using MergeSource = MergeSourceOf<Ring>;

namespace detail {

// Skips markers at the cursor. Returns false if the source has no more records for this round.
template <class Queue>
bool enter_segment(MergeSourceOf<Queue>& source, uint64_t limit_key) {
  while (source.cursor < source.end) {
    const auto& record = source.ring->at(source.cursor);
    if (!is_marker(record)) return source.key < limit_key;
    source.key = marked_key(record);
    if (source.key >= limit_key) return false;
    ++source.cursor;
  }
  return false;
}

template <class Queue, class Handler>
void pass_on(MergeSourceOf<Queue>& source, uint64_t to, Handler&& handler) {
  while (source.cursor < to) {
    // In portions, so that a waiting producer soon has room.
    const uint64_t portion = std::min(to, source.cursor + 4096);
    const auto part = source.ring->contiguous(source.cursor, portion);
    handler(source.thread, part);
    source.cursor += part.size();
    source.ring->release(source.cursor);
  }
}

template <class Queue>
uint64_t segment_end(const MergeSourceOf<Queue>& source) {
  uint64_t at = source.cursor;
  while (at < source.end && !is_marker(source.ring->at(at))) ++at;
  return at;
}

}  // namespace detail

// One round: passes all records with a key below `limit_key` to handler(thread, span), in key
// order. The spans may contain markers. `sources` is reordered.
template <class Queue, class Handler>
void merge_round(std::span<MergeSourceOf<Queue>*> sources, uint64_t limit_key, Handler&& handler) {
  using Source = MergeSourceOf<Queue>;
  const auto later = [](const Source* a, const Source* b) { return a->key > b->key; };
  std::vector<Source*> heap;
  for (Source* source : sources) {
    if (detail::enter_segment(*source, limit_key)) heap.push_back(source);
  }
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    Source* source = heap.back();
    detail::pass_on(*source, detail::segment_end(*source), handler);
    if (detail::enter_segment(*source, limit_key)) {
      std::push_heap(heap.begin(), heap.end(), later);
    } else {
      heap.pop_back();
    }
  }
  for (Source* source : sources) source->ring->release(source->cursor);
}

// A round for a program with a single thread: no order and no limit are needed.
template <class Queue, class Handler>
void drain_single(MergeSourceOf<Queue>& source, Handler&& handler) {
  for (uint64_t at = source.end; at-- > source.cursor;) {
    if (!is_marker(source.ring->at(at))) continue;
    source.key = marked_key(source.ring->at(at));
    break;
  }
  detail::pass_on(source, source.end, handler);
}

}  // namespace halo::events
