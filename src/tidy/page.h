// Pages, their buckets and blocks: what is known of each 64 KiB of a heap's memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "tidy/tracer.h"

namespace halo::tidy {

// Where something is in a heap's memory: bytes from its base.
using Place = uint64_t;

inline constexpr uint32_t kGranule = 8;  // bytes; sizes are multiples of it
inline constexpr uint32_t kPageShift = 16;
inline constexpr uint32_t kPageBytes = 1 << kPageShift;  // what a heap takes from its memory
inline constexpr uint32_t kPageGranules = kPageBytes / kGranule;
inline constexpr uint32_t kSystemPage = 4096;
inline constexpr uint32_t kNone = UINT32_MAX;  // no page, no bucket

// A part of a page that one cell has. It may be empty: without used blocks.
struct Bucket {
  uint32_t cell;            // kNone: not yet a cell's
  uint32_t next, previous;  // in the cell's list of buckets with free blocks, or kNone
  uint16_t blocks;          // used blocks that lie in it, or reach into it
  uint16_t free : 15;       // granules of free blocks that start in it
  uint16_t listed : 1;      // in the cell's list
};
static_assert(sizeof(Bucket) == 16);

// Two bits for each granule of a page. Both are set where a used block starts; at the start of a
// free block, only that in `starts`. A block, used or free, ends where the next one starts. The
// unused rest of a run has one start, at its beginning. So has what lies behind the last bucket
// that is a cell's. Only the heap's lock holder writes. Other threads may read the size of a used
// block: its bits, and the start behind it, do not change meanwhile, but others of the same words
// do.
template <class Tracer>
class BlockBits {
 public:
  bool is_used(uint32_t at) const { return (word(at).used() >> (at % 64) & 1) != 0; }
  void set_start(uint32_t at) { word(at).set_starts(word(at).starts() | bit(at)); }
  void clear_start(uint32_t at) { word(at).set_starts(word(at).starts() & ~bit(at)); }
  void set_used(uint32_t at) { word(at).set_used(word(at).used() | bit(at)); }
  void clear_used(uint32_t at) { word(at).set_used(word(at).used() & ~bit(at)); }

  // The first start, or used start, in [from, limit); or `limit`.
  uint32_t find_start(uint32_t from, uint32_t limit) const {
    return find([](const Word& word) { return word.starts(); }, from, limit);
  }
  uint32_t find_used(uint32_t from, uint32_t limit) const {
    return find([](const Word& word) { return word.used(); }, from, limit);
  }

  // Clears the starts in [from, to).
  void clear_starts(uint32_t from, uint32_t to) {
    for (uint32_t at = from; at < to;) {
      const uint32_t count = std::min(to - at, 64 - at % 64);
      const uint64_t ones = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
      word(at).set_starts(word(at).starts() & ~(ones << (at % 64)));
      at += count;
    }
  }

  // Starts of free blocks among 64 granules: those of word `number`.
  uint64_t free_starts(uint32_t number) const {
    return words_[number].starts() & ~words_[number].used();
  }

  // Granules of the block that starts at `at`.
  uint32_t granules_of(uint32_t at) const {
    const uint64_t behind = word(at).starts() >> (at % 64) >> 1;
    if (behind != 0) [[likely]]
      return static_cast<uint32_t>(std::countr_zero(behind)) + 1;
    return find_start((at | 63) + 1, kPageGranules) - at;
  }

 private:
  class Word {
   public:
    uint64_t starts() const { return __atomic_load_n(&starts_, __ATOMIC_RELAXED); }
    uint64_t used() const { return __atomic_load_n(&used_, __ATOMIC_RELAXED); }
    void set_starts(uint64_t bits) { __atomic_store_n(&starts_, bits, __ATOMIC_RELAXED); }
    void set_used(uint64_t bits) { __atomic_store_n(&used_, bits, __ATOMIC_RELAXED); }

   private:
    uint64_t starts_, used_;
  };

  static uint64_t bit(uint32_t at) { return uint64_t{1} << (at % 64); }
  Word& word(uint32_t at) {
    Tracer::touch(&words_[at / 64], sizeof(Word));
    return words_[at / 64];
  }
  const Word& word(uint32_t at) const {
    Tracer::touch(&words_[at / 64], sizeof(Word));
    return words_[at / 64];
  }

  template <class Bits>
  uint32_t find(const Bits& bits, uint32_t from, uint32_t limit) const {
    if (from >= limit) return limit;
    uint32_t number = from / 64;
    uint64_t rest = bits(word(number * 64)) & ~uint64_t{0} << (from % 64);
    while (rest == 0) {
      if (++number * 64 >= limit) return limit;
      rest = bits(word(number * 64));
    }
    return std::min(number * 64 + static_cast<uint32_t>(std::countr_zero(rest)), limit);
  }

  Word words_[kPageGranules / 64];
};

// A bucket of a page is unused (at or behind `next_bucket`), or some cell's.
template <class Tracer>
struct Page {
  BlockBits<Tracer> bits;
  uint32_t number;          // of the memory; the place is number * kPageBytes; kNone: no page
  uint32_t sizes;           // of its free blocks: its number there
  uint32_t cluster;         // whose page it is
  uint32_t next_bucket;     // the first unused one
  uint32_t sought;          // where the search for an empty one begins
  uint32_t blocks;          // used ones
  uint32_t next, previous;  // in the list of pages with empty buckets, or kNone
  bool listed;              // in that list; it may have none any more
  Page* unused;             // the next record without a page

  Bucket& bucket(uint32_t at) {
    Bucket& found = reinterpret_cast<Bucket*>(this + 1)[at];
    Tracer::touch(&found, sizeof found);
    return found;
  }
  // Of all fields but the bits.
  void touch() const { Tracer::touch(&number, sizeof(Page) - sizeof bits); }
};

}  // namespace halo::tidy
