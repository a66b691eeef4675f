// Objects beyond the group heaps' sizes: runs of units in a range of addresses of their own, and
// rings of reused memory for groups that are confined.
//
// Concurrency. `lock_` protects all state but `freed_later_`. No thread waits for it without a
// bound: an allocation that does not get it is refused, and a free puts its object into
// `freed_later_`, from which the next holder takes it. A pointer that the program owns keeps its
// entry unchanged, so `contains` and `usable_size` need no lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/ranges/growing_range.h"
#include "runtime/extra.h"
#include "runtime/extra/bounded_lock.h"
#include "runtime/extra/spans/reuse_ring.h"
#include "runtime/extra/spans/unit_map.h"
#include "runtime/pages/page.h"

namespace halo::runtime {

class SpanHeap {
 public:
  static constexpr size_t kMaxRings = 64;

  // Finds addresses for up to `bytes` bytes, a multiple of kSpanUnit. Called once. Returns false if
  // there is no room.
  bool reserve(size_t bytes);

  // True for addresses inside the range.
  bool contains(const void* p) const {
    return offset_of(p) < __atomic_load_n(&mapped_, __ATOMIC_RELAXED);
  }

  // A span of `bytes` bytes, more than kSpanUnit and up to kMaxSpan, at a multiple of 64.
  Span allocate(size_t bytes);

  // Likewise in that ring, which is made of `ring_bytes` bytes at its first use. Refused if the
  // ring has no room.
  Span allocate_confined(uint32_t ring, size_t ring_bytes, size_t bytes);

  // From now on rings are made of `ring_bytes` bytes without memory, which the watch fills. Of free
  // memory, each keeps `kept` bytes. Called before the first allocation.
  void colour_rings(size_t ring_bytes, size_t kept);
  bool has_coloured_rings() const { return coloured_.ring_bytes != 0; }

  // A part of a ring.
  struct Part {
    uintptr_t begin;
    size_t bytes;  // 0: nothing
  };
  // The ring, which is made if it does not exist. Nothing if there is no room, or if the lock is
  // not free.
  Part coloured_ring(uint32_t ring);
  // A part to fill, as allocations did not fit, of at most `most` bytes.
  Part take_empty(uint32_t ring, size_t most);
  // The first `bytes` bytes of that part are filled; the rest has no memory, or is discarded.
  // Returns false if the lock is not free.
  bool supply(uint32_t ring, uintptr_t begin, size_t bytes);

  // `p` must be inside the range. Other pointers than those of spans in use are ignored.
  void free(void* p);
  // 0 if `p` is not a span.
  size_t usable_size(const void* p) const;

  // The word of the span at `p` that belongs to the watch (span_watcher.h).
  uint32_t* watch_state_of(const void* p) const { return &states_[offset_of(p) / kSpanUnit]; }

  // The range, as far as it is mapped.
  uintptr_t begin() const { return memory_.begin(); }
  size_t mapped() const { return __atomic_load_n(&mapped_, __ATOMIC_RELAXED); }

  SpanCounts counts() const;
  // Without spans that wait to be freed. Any thread, without the lock: the numbers may be of
  // slightly different times.
  SpanBytes bytes() const;
  // Bytes of free units whose memory was not purged: up to an eighth of those in use, or 16 MiB.
  size_t kept() const { return kept_; }
  // Purges them, part by part. Returns the bytes that were purged; stops if the lock is held for
  // too long.
  size_t purge();

 private:
  // Of the unit in which a span starts. A span is larger than a unit, so two never start in one.
  struct Entry {
    uint32_t size;   // in units, in a ring in system pages; 0: no span starts here
    uint16_t start;  // of the span in its first unit, in bytes; of a free unit: `kept`
    uint16_t ring;   // 1 + the ring that the unit belongs to, or 0

    static constexpr uint16_t kKept = 1;  // its memory was not purged

    size_t bytes() const { return size * (ring == 0 ? kSpanUnit : kSystemPage); }
  };
  static_assert(sizeof(Entry) == 8);

  struct Ring {
    uintptr_t begin;
    size_t bytes;         // 0: not made yet
    size_t wanted_pages;  // by allocations that did not fit, if it is coloured
    ReuseRing runs;
  };

  uintptr_t offset_of(const void* p) const {
    return reinterpret_cast<uintptr_t>(p) - memory_.begin();
  }
  Entry& entry_of(const void* p) const { return entries_[offset_of(p) / kSpanUnit]; }
  void set_size(size_t maximum, size_t mapped);
  size_t take_units(size_t units, bool& is_zero);
  bool make_ring(Ring& ring, uint32_t number, size_t bytes);
  void free_locked(void* p);
  void free_confined(Ring& ring, size_t page, size_t bytes);
  void free_units(size_t unit, size_t units);
  size_t purge_part(size_t unit, size_t& purged);
  void free_later(void* p);
  void free_deferred();
  void count(size_t bytes);

  ranges::GrowingRange memory_;
  size_t max_ = 0;
  size_t mapped_ = 0;
  size_t high_ = 0;  // units that were ever used
  Entry* entries_ = nullptr;
  uint32_t* states_ = nullptr;
  UnitMap units_;
  BoundedLock lock_;
  Ring* rings_ = nullptr;  // kMaxRings of them
  size_t used_ = 0;        // bytes of units in use
  size_t kept_ = 0;        // bytes of free units that may be resident
  uint64_t starts_ = 0;
  SpanCounts counts_{};
  struct {
    size_t ring_bytes = 0;  // 0: rings are not coloured
    size_t kept = 0;
  } coloured_;
  std::array<std::atomic<void*>, 256> freed_later_{};
  std::atomic<uint32_t> deferred_{0};
};

HALO_HIDDEN extern constinit SpanHeap span_heap;

}  // namespace halo::runtime
