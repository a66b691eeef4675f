// The bitmaps of a page: block starts, used blocks and free blocks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "runtime/pages/arena.h"

namespace halo::runtime {

// The block-start bitmap of a mixed-size page, with one more bit at the end of the cut part.
//
// A block ends at the next start. Only the page's owner writes, so relaxed load and store are
// enough. A thread that holds a block reads its end: the bits from its start to the next one do not
// change while the block is in use.
class Starts {
 public:
  explicit Starts(const Page& page)
      : words_(arena.starts_of(page)), memory_(arena.memory_of(page)) {}

  // The end of the page needs no mark.
  void mark(const void* p) {
    const size_t at = granule_of(p);
    if (at / 64 < kPageWords) set(at / 64, get(at / 64) | (uint64_t{1} << (at % 64)));
  }

  // The first start behind `p`, or the end of the page.
  char* next_after(const void* p) const {
    const size_t from = granule_of(p) + 1;
    for (size_t word = from / 64, first = from % 64; word < kPageWords; ++word, first = 0) {
      const uint64_t bits = get(word) & (~uint64_t{0} << first);
      if (bits != 0)
        return memory_ + (word * 64 + static_cast<size_t>(std::countr_zero(bits))) * kGranule;
    }
    return memory_ + kPageSize;
  }

  // The last start at or before `p`; null if none is.
  char* last_at(const void* p) const {
    size_t word = granule_of(p) / 64;
    uint64_t bits = get(word) & (~uint64_t{0} >> (63 - granule_of(p) % 64));
    while (bits == 0 && word != 0) bits = get(--word);
    if (bits == 0) return nullptr;
    return memory_ + (word * 64 + 63 - static_cast<size_t>(std::countl_zero(bits))) * kGranule;
  }

  // Clears the bits between `begin` and `end`, both exclusive.
  void clear_between(const void* begin, const void* end) {
    const size_t stop = granule_of(end);
    for (size_t at = granule_of(begin) + 1; at < stop;) {
      const size_t first = at % 64, count = stop - at < 64 - first ? stop - at : 64 - first;
      const uint64_t ones = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
      set(at / 64, get(at / 64) & ~(ones << first));
      at += count;
    }
  }

  void clear() {
    for (size_t word = 0; word < kPageWords; ++word)
      if (get(word) != 0) set(word, 0);
  }

 private:
  size_t granule_of(const void* p) const {
    return static_cast<size_t>(static_cast<const char*>(p) - memory_) / kGranule;
  }
  uint64_t get(size_t word) const { return words_[word].load(std::memory_order_relaxed); }
  void set(size_t word, uint64_t bits) { words_[word].store(bits, std::memory_order_relaxed); }

  std::atomic<uint64_t>* words_;
  char* memory_;
};

// The used and free bitmaps of a page, and the page's summary of the free one. Only the owner uses
// it.
//
// Invariants: no block has both bits set. If a word of the free bitmap is not 0, the summary bit of
// its pair is set; a set summary bit may be stale.
class PageBits {
 public:
  explicit PageBits(Page& page)
      : page_(page), words_(arena.bits_of(page)), memory_(arena.memory_of(page)) {}

  bool is_free(const void* p) const { return (word_of(p).free & bit_of(p)) != 0; }
  // Returns false if the block is not used.
  static bool move_to_free(Page& page, const void* p) {
    if (!arena.move_to_free(p)) return false;
    count_free(page, p);
    return true;
  }
  // For a range that was not a used block.
  void add_free(const void* p) {
    word_of(p).free |= bit_of(p);
    count_free(page_, p);
  }
  // The summary bit may become stale.
  void remove_free(const void* p) { word_of(p).free &= ~bit_of(p); }

  // The first free block at or behind `from`; null if none is.
  char* first_free_from(const void* from) const {
    size_t word = granule_of(from) / 64;
    if (word >= kPageWords) return nullptr;
    uint64_t bits = words_[word].free & (~uint64_t{0} << (granule_of(from) % 64));
    while (bits == 0) {
      if (++word == kPageWords) return nullptr;
      bits = words_[word].free;
    }
    return memory_ + (word * 64 + static_cast<size_t>(std::countr_zero(bits))) * kGranule;
  }

  void clear_free() {
    for (; page_.mixed.free_words != 0; page_.mixed.free_words &= page_.mixed.free_words - 1) {
      const auto pair = static_cast<size_t>(std::countr_zero(page_.mixed.free_words)) * 2;
      words_[pair].free = words_[pair + 1].free = 0;
    }
  }

 private:
  size_t granule_of(const void* p) const {
    return static_cast<size_t>(static_cast<const char*>(p) - memory_) / kGranule;
  }
  BlockBits& word_of(const void* p) const { return words_[granule_of(p) / 64]; }
  uint64_t bit_of(const void* p) const { return uint64_t{1} << (granule_of(p) % 64); }
  static void count_free(Page& page, const void* p) {
    page.mixed.free_words |= uint64_t{1} << (reinterpret_cast<uintptr_t>(p) / kGranule / 128 % 64);
  }

  Page& page_;
  BlockBits* words_;
  char* memory_;
};

}  // namespace halo::runtime
