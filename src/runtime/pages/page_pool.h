// The free pages of the arena, and which of them to purge; lock-free.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/pages/page.h"
#include "runtime/pages/purge_limit.h"

namespace halo::runtime {

// The kind of system pages behind a page. It is the same for a whole slab, so a huge page never
// covers pages of groups that did not request it.
enum class PageKind : uint32_t { kNormal = 0, kHuge = 1 };

// The step in which the range is opened; the size of a huge page.
inline constexpr size_t kSlabSize = size_t{2} << 20;
inline constexpr uint32_t kSlabPages = kSlabSize >> kPageShift;

// One bit for each page of the slab.
struct Slab {
  std::atomic<uint32_t> free;
  std::atomic<uint32_t> dirty;  // free pages that may be in memory
  PageKind kind;                // constant once the slab is added
};
static_assert(kSlabPages == 32 && sizeof(Slab) == 12);

// Pages of one slab.
struct PageMask {
  uint32_t slab;
  uint32_t pages;
};

// A set bit in `Slab::free` means that no thread owns the page. A thread takes pages by clearing
// their bits with a CAS (acquire); it puts them back by setting them with fetch_or (sequentially
// consistent, so release). Between the two, the pages, their entries and their `dirty` bits belong
// to that thread alone. Hence a page being purged is neither free nor in a heap.
//
// `dirty` is a subset of the free pages, plus bits that a thread is about to publish or has just
// taken: `put` sets the dirty bit before the free bit, and a taker clears it after the free bit.
//
// `available_` is a hint for the search. Invariant: if a slab has a free page and no thread is
// inside `take` or `put` for it, its bit is set. `take` clears the bit of a full slab and then
// reads `free` again; `put` sets the free bit, and then sets the hint unless it reads it as set. So
// one of the two sees the other's write. The clear, the re-read and the fetch_or are sequentially
// consistent. On x86-64 a fetch_or is also a full barrier before the relaxed read of the hint.
// `lowest_`, `used_`, `dirty_` and `shrinks_` are relaxed hints and statistics.
class PagePool {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The tables for all slabs, zeroed: one Slab and one bit each.
  void place_at(Slab* slabs, std::atomic<uint64_t>* available);

  // Adds a new slab; its pages become free and clean.
  void add(uint32_t slab, PageKind kind);

  // Takes a free page of that kind; returns its number, or `kNone`. It prefers low slabs, and in a
  // slab the dirty pages.
  uint32_t take(PageKind kind);

  // Puts a page back. `dirty`: it may be in memory.
  void put(uint32_t page, bool dirty);

  // Takes the dirty pages of one slab for purging if more pages are dirty than the limit; otherwise
  // none. The slab `last` comes first if all of its pages are free.
  PageMask take_dirty(uint32_t last);

  // Takes the dirty pages of that slab, whatever the limit, which does not change.
  PageMask take_dirty_of(uint32_t slab) {
    uint32_t dirty = 0;
    return claim_dirty(slab, dirty);
  }
  // The number of slabs.
  uint32_t slabs() const { return end_.load(std::memory_order_acquire); }
  // The number of free pages that may be in memory.
  uint64_t dirty() const { return dirty_.load(std::memory_order_relaxed); }

  // Frees the pages that one of these returned. Those in `dirty` may still be in memory.
  void put_purged(PageMask mask, uint32_t dirty);

  // The kind of a page that was taken.
  PageKind kind_of(uint32_t page) const { return slabs_[page / kSlabPages].kind; }

  uint64_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  uint32_t find(PageKind kind, uint32_t from) const;
  uint32_t take_from(uint32_t slab);
  void mark_available(uint32_t slab);
  PageMask claim_dirty(uint32_t slab, uint32_t& dirty);
  PageMask claim_excess(uint32_t slab);
  bool has_too_many_dirty();

  Slab* slabs_ = nullptr;
  std::atomic<uint64_t>* available_ = nullptr;  // by slab: a page may be free
  std::atomic<uint32_t> end_{0};                // number of slabs added
  std::atomic<uint32_t> lowest_[2]{};           // by kind: lower slabs rarely have a free page
  std::atomic<uint32_t> scan_from_{0};          // where take_dirty continues its search
  std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> dirty_{0};
  std::atomic<bool> shrinks_{false};  // purging until half of the limit is left
  PurgeLimit limit_;
};

}  // namespace halo::runtime
