// A thread's ring: segments that the thread fills in order and the consumer empties.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracing/format/frames.h"
#include "tracing/library/futex.h"
#include "tracing/library/local.h"

namespace halo::logging {

inline constexpr uint32_t kSegments = 8;

// One producer, the thread with its signal handlers, and one consumer; no locks.
//
// A place is reserved by one xadd on the thread's cursor, then written, its site last (release; the
// hook relies on x86-64's store order). A handler that interrupts in between reserves and writes
// behind it. Free places are zero, so a place is complete if and only if its site is not 0; the
// consumer loads the site with acquire.
//
// `begun` is stored with release when the producer takes a segment. The consumer clears an emptied
// segment and then stores `freed` with release; the producer loads it with acquire before it reuses
// the segment. Invariant: 0 <= begun - freed <= kSegments. A producer without a free segment
// increments `waiting` and sleeps on `freed`.
//
// A skipped record may still be written later. Its segment is then `unsafe`: the consumer replaces
// it by a fresh one instead of clearing it.
struct Ring {
  uint32_t number;  // of its thread in the trace
  char* segments[kSegments];

  // Both count segments since the start, and wrap.
  std::atomic<uint32_t> begun;  // written by the producer; the last one holds its cursor
  std::atomic<uint32_t> freed;  // written by the consumer: these segments are zero again
  std::atomic<uint32_t> waiting;

  // The consumer's members.
  uint64_t at_byte;  // within segment number `freed`
  uint64_t key;      // merge key of the next record
  bool ended;        // the thread's last record was read
  bool unsafe;       // an unfinished record was skipped in this segment; its writer may still write
};

inline uint64_t load_site(const Logged* record) {
  return __atomic_load_n(&record->site, __ATOMIC_ACQUIRE);
}

// The site is stored last: it publishes the record.
inline void store_record(Logged* place, const Logged& record) {
  place->word1 = record.word1;
  place->word2 = record.word2;
  __atomic_store_n(&place->site, record.site, __ATOMIC_RELEASE);
}

// Maps 1 MiB at a multiple of 1 MiB, zeroed; null if memory is refused.
char* map_segment();

// All rings of this process, under `lock_`. Rings are never removed: a later thread reuses the ring
// and its number. The consumer reads `count_` with acquire and then the entries below it without
// the lock.
class RingTable {
 public:
  static constexpr uint32_t kMax = trace::kMaxThreads;

  // Assigns a ring to a new thread; null if memory or numbers have run out. Signals must be
  // blocked.
  Ring* take();
  // Called by the consumer once all of the ring is consumed and zero again.
  void release(Ring* ring);

  uint32_t count() const { return count_.load(std::memory_order_acquire); }
  Ring& operator[](uint32_t number) { return *rings_[number]; }

  Lock& lock() { return lock_; }
  // Called in a forked child: no thread has a ring.
  void reset();

 private:
  Ring* make();

  Lock lock_;
  std::atomic<uint32_t> count_{0};
  uint32_t free_count_ = 0;
  Ring* rings_[kMax]{};
  uint32_t free_[kMax]{};
};

extern RingTable rings;

}  // namespace halo::logging
