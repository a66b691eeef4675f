// One thread's window of recent object accesses (HALO, section 4.1 and figure 5).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "recorder/analysis/event.h"

namespace halo::sinks {

// Entries are copies of the data for pairing, newest last, in columns: the traversal reads only
// `seq_`. An object has at most one entry that still pairs; its older ones are ghosts, which only
// count as distance.
class AffinityQueue {
 public:
  explicit AffinityQueue(uint32_t distance)
      : distance_(distance),
        capacity_(std::max<size_t>(4096, 4 * (size_t(distance) + 1))),
        seq_(capacity_),
        begins_(capacity_),
        rest_(capacity_) {}

  bool is_newest(const Object& object) const { return newest_seq_ == object.seq; }

  // Adds an access and calls on_pair(context) once for each object that is affinitive with it.
  // `objects` returns the current record of an entry whose successor was unknown when it was added.
  //
  // Two objects are co-allocatable if neither's context allocates between them. So the other one
  // must be between this context's previous and next allocation: that test alone rejects most
  // entries.
  template <class Objects, class OnPair>
  void push(const Object& object, base::ObjectId id, uint32_t size, const Objects& objects,
            OnPair&& on_pair) {
    // An entry is in reach if it and all newer ones sum to less than the distance.
    while (first_ < end_ && bytes_ - begins_[first_] >= distance_) ++first_;
    const uint64_t low = object.seq - object.gap_prev;
    const uint64_t width = uint64_t(object.gap_prev) + object.gap_next;
    for (size_t at = first_; at < end_; ++at) {
      if (seq_[at] - low > width) [[likely]]
        continue;
      if (seq_[at] == object.seq) {
        seq_[at] = kGhost;
      } else if (other_allows(at, object, objects)) {
        on_pair(rest_[at].context);
      }
    }
    append(object, id, size);
  }

  // Updates successors that are known by now, before their objects' ids are reused.
  template <class Objects>
  void refresh(const Objects& objects) {
    for (size_t at = first_; at < end_; ++at) {
      if (seq_[at] != kGhost) fetch_successor(at, objects);
    }
  }

  void clear() {
    first_ = end_ = 0;
    newest_seq_ = 0;
  }

 private:
  // Further from all sequence numbers than any gap.
  static constexpr uint64_t kGhost = 1ULL << 63;

  struct Rest {
    base::ContextId context;
    uint32_t gap_prev;
    uint32_t gap_next;
    uint32_t id;
  };

  template <class Objects>
  void fetch_successor(size_t at, const Objects& objects) {
    Rest& entry = rest_[at];
    if (entry.gap_next != Object::kNone) return;
    const Object& now = objects[base::ObjectId{entry.id}];
    if (now.seq == seq_[at]) entry.gap_next = now.gap_next;
  }

  // Whether the entry's context does not allocate between its object and this one.
  template <class Objects>
  bool other_allows(size_t at, const Object& object, const Objects& objects) {
    if (seq_[at] > object.seq) return rest_[at].gap_prev >= gap_between(object.seq, seq_[at]);
    fetch_successor(at, objects);
    return rest_[at].gap_next >= gap_between(seq_[at], object.seq);
  }

  void append(const Object& object, base::ObjectId id, uint32_t size) {
    if (end_ == capacity_) move_to_front();
    seq_[end_] = newest_seq_ = object.seq;
    begins_[end_] = bytes_;
    rest_[end_] = {object.context, object.gap_prev, object.gap_next, base::index(id)};
    bytes_ += size;
    ++end_;
  }

  // Fewer than distance_ entries are in reach, so source and target do not overlap.
  void move_to_front() {
    std::copy(seq_.begin() + first_, seq_.begin() + end_, seq_.begin());
    std::copy(begins_.begin() + first_, begins_.begin() + end_, begins_.begin());
    std::copy(rest_.begin() + first_, rest_.begin() + end_, rest_.begin());
    end_ -= first_;
    first_ = 0;
  }

  const uint32_t distance_;
  const size_t capacity_;
  std::vector<uint64_t> seq_;     // of the object, or kGhost
  std::vector<uint64_t> begins_;  // bytes accessed before the entry
  std::vector<Rest> rest_;
  size_t first_ = 0;  // earlier entries are out of reach
  size_t end_ = 0;
  uint64_t bytes_ = 0;  // accessed so far
  uint64_t newest_seq_ = 0;
};

}  // namespace halo::sinks
