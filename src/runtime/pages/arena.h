// The arena: one range of addresses, grown in place and divided into pages of 64 KiB.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/ranges/growing_range.h"
#include "runtime/base/exported.h"
#include "runtime/pages/huge_pages.h"
#include "runtime/pages/page.h"
#include "runtime/pages/page_pool.h"

namespace halo::runtime {

// Each page belongs to one group of one thread. The tables of pages, block bitmaps, block starts
// and slabs lie behind the range and grow with it.
//
// Concurrency. `reserve` runs once, before any other thread uses the arena; `base_` and the table
// addresses do not change afterwards. `grow_to` maps the tables, then the memory, and raises
// `granule_limit_` and `page_limit_` last, by a release CAS that never lowers them. So a number
// below `page_limit()` refers to mapped table entries. Readers load the limits relaxed: they test a
// block that they received from another thread or from themselves, and that hand-over orders the
// growth before the test. `open_slab` loads the limit with acquire, because it uses the new slab.
//
// A page's entry and bitmaps belong to the thread that acquired the page (page.h). Acquiring and
// releasing go through `PagePool`, whose atomics pass the ownership on: the acquiring thread sees
// all writes of the releasing one.
class Arena {
 public:
  // Reserves a range that can grow to `wanted` bytes, or to less if address space is limited, and
  // opens its first 2 MiB. Called once. Returns false if even the smallest range cannot be
  // reserved.
  bool reserve(size_t wanted);

  // True exactly for addresses inside the current range.
  bool contains(const void* p) const { return index_of(p) < page_limit(); }

  // Returns a free page, or nullptr if memory or addresses are used up. If huge pages are too slow,
  // it returns a page of the normal kind. Lock-free. The caller initialises the page's entry; only
  // `touched` is valid and the bitmaps are clear.
  Page* acquire(PageKind kind);

  // Releases a page whose bitmaps are clear, and may purge free pages. Lock-free.
  void release(Page& page);

  // Purges all free pages. Returns the number of bytes that may have left the memory. Lock-free.
  size_t purge_free();

  // The index of the page that contains `p`; at least page_limit() if `p` is outside.
  uintptr_t index_of(const void* p) const {
    return (reinterpret_cast<uintptr_t>(p) - base_) >> kPageShift;
  }
  // Number of pages in the current range; 0 if the arena has no range.
  uintptr_t page_limit() const { return __atomic_load_n(&page_limit_, __ATOMIC_RELAXED); }
  Page& page_at(uintptr_t index) const { return pages_[index]; }
  Page& page_of(const void* p) const { return pages_[index_of(p)]; }
  PageLink link_of(const Page& page) const { return static_cast<PageLink>(&page - pages_) + 1; }
  // `link` must not be 0.
  Page& page_of(PageLink link) const { return pages_[link - 1]; }
  char* memory_of(const Page& page) const {
    return reinterpret_cast<char*>(base_ + (static_cast<size_t>(&page - pages_) << kPageShift));
  }

  // The kind of the page with the block at `p`.
  PageKind kind_of(const void* p) const {
    return pool_.kind_of(static_cast<uint32_t>(index_of(p)));
  }

  BlockBits* bits_of(const Page& page) const {
    return bits_ + static_cast<size_t>(&page - pages_) * kPageWords;
  }
  // The block-start bitmap of a mixed-size page: one bit for each granule.
  std::atomic<uint64_t>* starts_of(const Page& page) const {
    return starts_ + static_cast<size_t>(&page - pages_) * kPageWords;
  }
  // Only the page's owner may call it.
  void mark_start(const void* p) const {
    const uintptr_t at = (reinterpret_cast<uintptr_t>(p) - base_) / kGranule;
    std::atomic<uint64_t>& word = starts_[at / 64];
    word.store(word.load(std::memory_order_relaxed) | uint64_t{1} << (at % 64),
               std::memory_order_relaxed);
  }
  // Whether a used block (in use or in a list) starts at `p`, an address inside the range.
  bool is_used(const void* p) const {
    const auto at = reinterpret_cast<uintptr_t>(p);
    const uint64_t used = bits_at(p).used.load(std::memory_order_relaxed);
    return at % kGranule == 0 && (used >> (at / kGranule % 64)) % 2 != 0;
  }
  // Only the page's owner may call it.
  void mark_used(const void* p) const {
    const auto at = reinterpret_cast<uintptr_t>(p);
    std::atomic<uint64_t>& used = bits_at(p).used;
    used.store(used.load(std::memory_order_relaxed) | uint64_t{1} << (at / kGranule % 64),
               std::memory_order_relaxed);
  }

  // Moves the used block at `p` to the free bitmap. Returns false if `p` is not a used block. Only
  // the page's owner may call it.
  bool move_to_free(const void* p) const {
    BlockBits& bits = bits_at(p);
    const uintptr_t at = reinterpret_cast<uintptr_t>(p) / kGranule % 64;
    const uint64_t used = bits.used.load(std::memory_order_relaxed);
    if ((used >> at) % 2 == 0) return false;
    const uint64_t bit = uint64_t{1} << at;
    bits.used.store(used ^ bit, std::memory_order_relaxed);
    bits.free |= bit;
    return true;
  }

  // The size of the block at `p` in a mixed-size page, in granules less one. It reads the bitmap
  // word of `p` and the next one; if neither has the next start, returns at least kPageSize.
  uint64_t granules_behind(const void* p) const {
    const auto at = reinterpret_cast<uintptr_t>(p);
    const auto* word =
        reinterpret_cast<const std::atomic<uint64_t>*>(starts_of_address_0_) + at / (64 * kGranule);
    const uint64_t bits = word->load(std::memory_order_relaxed);
    const uint64_t behind = bits >> (at / kGranule % 64) >> 1;
    if (behind != 0) [[likely]]
      return trailing_zeros(behind);
    if (at / (64 * kGranule) % kPageWords == kPageWords - 1) return kPageSize;
    const uint64_t after = word[1].load(std::memory_order_relaxed);
    if (after == 0) return kPageSize;
    return 63 - at / kGranule % 64 + trailing_zeros(after);
  }

  // The current size of the range in granules.
  uint64_t granule_limit() const { return __atomic_load_n(&granule_limit_, __ATOMIC_RELAXED); }

  uintptr_t base() const { return base_; }
  size_t bytes() const { return page_limit() << kPageShift; }
  // The maximum size of the range.
  size_t max_bytes() const { return max_; }
  const HugePages& huge_pages() const { return huge_pages_; }
  // Number of pages that heaps own.
  uint64_t pages_used() const { return pool_.used(); }
  // Bytes of free pages that may be in memory, and of all pages that were opened.
  size_t dirty_bytes() const { return pool_.dirty() * kPageSize; }
  size_t opened_bytes() const { return pool_.slabs() * kSlabSize; }

 private:
  // `number` must not be 0. std::countr_zero returns int, whose widening would cost an instruction.
  static uint64_t trailing_zeros(uint64_t number) {
    uint64_t count;
    asm("rep bsf %1, %0" : "=r"(count) : "r"(number) : "cc");
    if (count >= 64) __builtin_unreachable();
    return count;
  }

  BlockBits& bits_at(const void* p) const {
    return reinterpret_cast<BlockBits*>(
        bits_of_address_0_)[reinterpret_cast<uintptr_t>(p) / (64 * kGranule)];
  }

  // The tables behind the range, which grow with it.
  enum class Table : unsigned { kPages, kBits, kStarts, kSlabs, kAvailable };
  static constexpr unsigned kTableCount = 5;

  bool begin_growing(size_t maximum);
  bool reserve_fixed(size_t bytes);
  bool grow();
  bool grow_to(size_t bytes);
  bool open_slab(PageKind kind);
  Page* take(PageKind kind);
  size_t purge(PageMask mask);
  size_t table_bytes(Table table, size_t bytes) const;
  size_t all_table_bytes(size_t bytes) const;
  void place(uintptr_t base, size_t maximum, size_t mapped);

  uintptr_t base_ = 0;  // forwarding.cc reads this and the next member
  uintptr_t page_limit_ = 0;
  uint64_t granule_limit_ = 0;
  Page* pages_ = nullptr;
  BlockBits* bits_ = nullptr;
  // The addresses of the tables' entries for address 0; `base_` is a multiple of a page.
  uintptr_t bits_of_address_0_ = 0;
  uintptr_t starts_of_address_0_ = 0;
  std::atomic<uint64_t>* starts_ = nullptr;
  size_t max_ = 0;
  bool is_first_open_ = false;  // the first 2 MiB are writable
  ranges::GrowingRange memory_range_;
  ranges::GrowingRange tables_[kTableCount];
  std::atomic<uint32_t> slabs_opened_{0};
  PagePool pool_;
  HugePages huge_pages_;
};

HALO_HIDDEN extern constinit Arena arena;

}  // namespace halo::runtime
