// One range of addresses, grown in place and cut into pages of 64 KiB; each page serves one group
// of one thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/exported.h"
#include "runtime/growing_range.h"
#include "runtime/huge_pages.h"
#include "runtime/page.h"
#include "runtime/page_pool.h"

namespace halo::runtime {

class Arena {
 public:
  // Finds room for a range that can grow to `wanted` bytes, once, or to less where address space is
  // limited, and opens its first 2 MiB; false when not even the smallest range is to be had.
  bool reserve(std::size_t wanted);

  // True for exactly the addresses inside the range, as it is now.
  bool contains(const void* p) const { return index_of(p) < page_limit(); }

  // A page that nobody has, or nullptr when memory or addresses are used up; of the normal kind
  // where huge pages are slow to come. Lock-free. What it is for is up to the caller, but
  // `touched`, and its bitmaps, which are clear.
  Page* acquire(PageKind kind);

  // Takes a page back whose bitmaps are clear; some pages return to the system at once. Lock-free.
  void release(Page& page);

  // The number of the page that `p` lies in, or one that is at least page_limit().
  std::uintptr_t index_of(const void* p) const {
    return (reinterpret_cast<std::uintptr_t>(p) - base_) >> page_shift;
  }
  // How many pages the range has, as it is now; 0: nothing is ours.
  std::uintptr_t page_limit() const { return __atomic_load_n(&page_limit_, __ATOMIC_RELAXED); }
  Page& page_at(std::uintptr_t index) const { return pages_[index]; }
  Page& page_of(const void* p) const { return pages_[index_of(p)]; }
  PageLink link_of(const Page& page) const { return static_cast<PageLink>(&page - pages_) + 1; }
  // Of a link that is not 0.
  Page& page_of(PageLink link) const { return pages_[link - 1]; }
  char* memory_of(const Page& page) const {
    return reinterpret_cast<char*>(base_ +
                                   (static_cast<std::size_t>(&page - pages_) << page_shift));
  }

  BlockBits* bits_of(const Page& page) const {
    return bits_ + static_cast<std::size_t>(&page - pages_) * page_words;
  }
  // A bit for each granule: set where a block starts, in mixed pages.
  std::atomic<std::uint64_t>* starts_of(const Page& page) const {
    return starts_ + static_cast<std::size_t>(&page - pages_) * page_words;
  }
  // Of a page that the caller has.
  void mark_start(const void* p) const {
    const std::uintptr_t at = (reinterpret_cast<std::uintptr_t>(p) - base_) / granule;
    std::atomic<std::uint64_t>& word = starts_[at / 64];
    word.store(word.load(std::memory_order_relaxed) | std::uint64_t{1} << (at % 64),
               std::memory_order_relaxed);
  }
  // Whether a block that is in use or in a cache starts at `p`, inside the range.
  bool is_out(const void* p) const {
    const auto at = reinterpret_cast<std::uintptr_t>(p);
    const std::uint64_t out = bits_at(p).out.load(std::memory_order_relaxed);
    return at % granule == 0 && (out >> (at / granule % 64)) % 2 != 0;
  }
  // Of a page that the caller has.
  void mark_out(const void* p) const {
    const auto at = reinterpret_cast<std::uintptr_t>(p);
    std::atomic<std::uint64_t>& out = bits_at(p).out;
    out.store(out.load(std::memory_order_relaxed) | std::uint64_t{1} << (at / granule % 64),
              std::memory_order_relaxed);
  }

  // Of a page that the caller has: a block that was out is free from now on. False where it was not
  // out.
  bool move_to_free(const void* p) const {
    BlockBits& bits = bits_at(p);
    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(p) / granule % 64;
    const std::uint64_t out = bits.out.load(std::memory_order_relaxed);
    if ((out >> at) % 2 == 0) return false;
    const std::uint64_t bit = std::uint64_t{1} << at;
    bits.out.store(out ^ bit, std::memory_order_relaxed);
    bits.free |= bit;
    return true;
  }

  // Of `p`, where a block of a mixed page starts, how many granules less one lie before the next
  // start, if that is in the same word of the bitmap or in the next; else at least page_size.
  std::uint64_t granules_behind(const void* p) const {
    const auto at = reinterpret_cast<std::uintptr_t>(p);
    const auto* word = reinterpret_cast<const std::atomic<std::uint64_t>*>(starts_of_address_0_) +
                       at / (64 * granule);
    const std::uint64_t bits = word->load(std::memory_order_relaxed);
    const std::uint64_t behind = bits >> (at / granule % 64) >> 1;
    if (behind != 0) [[likely]]
      return trailing_zeros(behind);
    if (at / (64 * granule) % page_words == page_words - 1) return page_size;
    const std::uint64_t after = word[1].load(std::memory_order_relaxed);
    if (after == 0) return page_size;
    return 63 - at / granule % 64 + trailing_zeros(after);
  }

  // Addresses inside the range, in granules.
  std::uint64_t granule_limit() const { return __atomic_load_n(&granule_limit_, __ATOMIC_RELAXED); }

  std::uintptr_t base() const { return base_; }
  std::size_t bytes() const { return page_limit() << page_shift; }
  // How large the range may become.
  std::size_t most_bytes() const { return most_; }
  const HugePages& huge_pages() const { return huge_pages_; }
  // Pages that some heap has.
  std::uint64_t pages_used() const { return pool_.used(); }

 private:
  // Of a number that is not 0; in the 64 bits that std::countr_zero's int would have to be made.
  static std::uint64_t trailing_zeros(std::uint64_t number) {
    std::uint64_t count;
    asm("rep bsf %1, %0" : "=r"(count) : "r"(number) : "cc");
    if (count >= 64) __builtin_unreachable();
    return count;
  }

  BlockBits& bits_at(const void* p) const {
    return reinterpret_cast<BlockBits*>(
        bits_of_address_0_)[reinterpret_cast<std::uintptr_t>(p) / (64 * granule)];
  }

  // What lies behind the range, and grows with it.
  enum class Table : unsigned { pages, bits, starts, slabs, available };
  static constexpr unsigned table_count = 5;

  bool begin_growing(std::size_t most);
  bool reserve_at_once(std::size_t bytes);
  bool grow();
  bool grow_to(std::size_t bytes);
  bool open_slab(PageKind kind);
  Page* take(PageKind kind);
  void give_back(PageMask mask);
  std::size_t table_bytes(Table table, std::size_t bytes) const;
  std::size_t all_table_bytes(std::size_t bytes) const;
  void place(std::uintptr_t base, std::size_t most, std::size_t mapped);

  std::uintptr_t base_ = 0;  // here and the next: read by forwarding.cc
  std::uintptr_t page_limit_ = 0;
  std::uint64_t granule_limit_ = 0;
  Page* pages_ = nullptr;
  BlockBits* bits_ = nullptr;
  // Where these two would begin if the range, which begins at a whole number of pages, did at 0.
  std::uintptr_t bits_of_address_0_ = 0;
  std::uintptr_t starts_of_address_0_ = 0;
  std::atomic<std::uint64_t>* starts_ = nullptr;
  std::size_t most_ = 0;
  bool is_first_open_ = false;  // the first 2 MiB may be written to
  GrowingRange memory_range_;
  GrowingRange tables_[table_count];
  std::atomic<std::uint32_t> slabs_opened_{0};
  PagePool pool_;
  HugePages huge_pages_;
};

HALO_HIDDEN extern constinit Arena arena;

}  // namespace halo::runtime
