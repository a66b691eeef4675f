// Merges the threads' rings into one stream in which an access follows its object's allocation and
// precedes its free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "recorder/events/ring.h"

namespace halo::events {

// Each allocation and each free advances a global epoch counter. A thread writes a marker into its
// ring when it reads a new epoch. The recorded program itself orders two events on one object, and
// the earlier one is published before the later one is issued. So the later one carries an epoch
// that is at least as high, and a higher one if it is an allocation or a free.
//
// The consumer first takes a limit from the counter and then reads the rings. A record that is
// published too late for this round carries at least the limit. It waits for a later round,
// together with all other records from the limit on.

// The native engine's epochs are readings of the processors' time stamp counter, which is the same
// on all of them: a thread reads it before it publishes, the consumer before it reads the rings.
//
// The allocation or free that created an epoch precedes all events that only read it.
constexpr uint64_t owner_key(uint64_t epoch) { return epoch * 2; }
constexpr uint64_t observer_key(uint64_t epoch) { return epoch * 2 + 1; }

// The accessor that a queue's record type must provide: the key of this record and of those that
// follow it; 0: they have that of the record before.
inline uint64_t key_in(const Record& record) {
  switch (record.kind()) {
    case Kind::kEpoch:
    case Kind::kFree:
    case Kind::kRevive:
      return record.word1;
    default:
      return 0;
  }
}

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

// Whether the record at `at` has a key below the limit; it becomes the source's.
template <class Queue>
bool is_below(MergeSourceOf<Queue>& source, uint64_t at, uint64_t limit_key) {
  if (const uint64_t key = key_in(source.ring->at(at)); key != 0) source.key = key;
  return source.key < limit_key;
}

// Returns false if the source has no record for this round.
template <class Queue>
bool has_next(MergeSourceOf<Queue>& source, uint64_t limit_key) {
  return source.cursor < source.end && is_below(source, source.cursor, limit_key);
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

// Passes the records below a key, at least one.
template <class Queue, class Handler>
void pass_on_below(MergeSourceOf<Queue>& source, uint64_t bound_key, Handler&& handler) {
  uint64_t to = source.cursor + 1;
  while (to < source.end && is_below(source, to, bound_key)) ++to;
  pass_on(source, to, handler);
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
    if (detail::has_next(*source, limit_key)) heap.push_back(source);
  }
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    Source* source = heap.back();
    heap.pop_back();
    const uint64_t bound = heap.empty() ? limit_key : std::min(limit_key, heap.front()->key + 1);
    detail::pass_on_below(*source, bound, handler);
    if (!detail::has_next(*source, limit_key)) continue;
    heap.push_back(source);
    std::push_heap(heap.begin(), heap.end(), later);
  }
  for (Source* source : sources) source->ring->release(source->cursor);
}

// A round for a program with a single thread: no order and no limit are needed. The source keeps
// its key.
template <class Queue, class Handler>
void drain_single(MergeSourceOf<Queue>& source, Handler&& handler) {
  detail::pass_on(source, source.end, handler);
}

}  // namespace halo::events
