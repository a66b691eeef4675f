// A thread's buffer: segments that its thread fills one after the other, and the consumer empties.
#pragma once

#include <atomic>
#include <cstdint>

#include "logging/futex.h"
#include "logging/local.h"

namespace halo::logging {

inline constexpr uint32_t kSegments = 8;

struct Ring {
  uint32_t number;  // of its thread in the trace
  char* segments[kSegments];

  // Both count segments since the beginning of time.
  std::atomic<uint32_t> begun;  // by the producer; the last of them is where its cursor is
  std::atomic<uint32_t> freed;  // by the consumer: all zero again
  std::atomic<uint32_t> waiting;

  // The consumer's.
  uint64_t at_byte;  // within segment number `freed`
  uint64_t key;      // merge key of what comes next
  bool ended;        // its thread's last record has been read
  bool unsafe;       // somebody may yet write where a record was given up in this segment
};

inline uint64_t load_site(const Logged* record) {
  return __atomic_load_n(&record->site, __ATOMIC_ACQUIRE);
}

// Records become visible by their site.
inline void store_record(Logged* place, const Logged& record) {
  place->word1 = record.word1;
  place->word2 = record.word2;
  __atomic_store_n(&place->site, record.site, __ATOMIC_RELEASE);
}

// 1 MiB at a multiple of 1 MiB, all zero; null where there is none.
char* map_segment();

// All rings of this process. A ring is never taken out: its thread's number is used again.
class RingTable {
 public:
  static constexpr uint32_t kMost = 1 << 16;

  // For a new thread; null where memory or numbers have run out. Signals are blocked.
  Ring* take();
  // By the consumer, everything of it being consumed and zero again.
  void give_back(Ring* ring);

  uint32_t count() const { return count_.load(std::memory_order_acquire); }
  Ring& operator[](uint32_t number) { return *rings_[number]; }

  Lock& lock() { return lock_; }
  // In a forked child: no thread has a ring.
  void forget_all();

 private:
  Ring* make();

  Lock lock_;
  std::atomic<uint32_t> count_{0};
  uint32_t free_count_ = 0;
  Ring* rings_[kMost]{};
  uint32_t free_[kMost]{};
};

extern RingTable rings;

}  // namespace halo::logging
