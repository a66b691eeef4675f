// Which pages of the arena nobody has, and which of those are to be given back to the system.
// Lock-free; an index or a mask that a function returned is the caller's alone until it is put
// back.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/page.h"
#include "runtime/purge_limit.h"

namespace halo::runtime {

// What kind of pages of the system a page lies on. It is the same for all of a slab, so that a huge
// page never covers what a group has that asked for none.
enum class PageKind : std::uint32_t { normal = 0, huge = 1 };

// What the range is opened by, and what one huge page covers.
inline constexpr std::size_t slab_size = std::size_t{2} << 20;
inline constexpr std::uint32_t slab_pages = slab_size >> page_shift;

// A bit for each page. One that is neither free nor in a heap is being given back by some thread.
struct Slab {
  std::atomic<std::uint32_t> free;
  std::atomic<std::uint32_t> dirty;  // free, and may be in memory
  PageKind kind;                     // does not change
};
static_assert(slab_pages == 32 && sizeof(Slab) == 12);

// Pages of one slab.
struct PageMask {
  std::uint32_t slab;
  std::uint32_t pages;
};

class PagePool {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  // Tables of zeroes for all slabs: one Slab each, and a bit.
  void place_at(Slab* slabs, std::atomic<std::uint64_t>* available);

  // All pages of a slab that is new become free and clean.
  void add(std::uint32_t slab, PageKind kind);

  // The number of a page, `none` where there is none of that kind. The lowest slabs come first, and
  // in a slab the pages that may be in memory.
  std::uint32_t take(PageKind kind);

  // Takes a page back. `dirty`: it may be in memory.
  void put(std::uint32_t page, bool dirty);

  // Where more free pages are dirty than may be, those of one slab, for the system to take back;
  // else none. The slab that all pages are free of comes first, if it is `last`.
  PageMask take_dirty(std::uint32_t last);

  // Frees what take_dirty took. `dirty`, of these, may still be in memory.
  void put_back(PageMask mask, std::uint32_t dirty);

  std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }

 private:
  std::uint32_t find(PageKind kind, std::uint32_t from) const;
  std::uint32_t take_from(std::uint32_t slab);
  void mark_available(std::uint32_t slab);
  PageMask claim_dirty(std::uint32_t slab);
  bool has_too_many_dirty();

  Slab* slabs_ = nullptr;
  std::atomic<std::uint64_t>* available_ = nullptr;  // by slab: a page may be free; 0: none is
  std::atomic<std::uint32_t> end_{0};                // no slab from here on
  std::atomic<std::uint32_t> lowest_[2]{};           // by kind: below, a page is hardly ever free
  std::atomic<std::uint32_t> hand_{0};               // where take_dirty looks next
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> dirty_{0};
  std::atomic<bool> shrinks_{false};  // until half of what may be dirty is
  PurgeLimit limit_;
};

}  // namespace halo::runtime
