// The bitmap of a chunk whose blocks differ in size: a bit for each granule where a block starts,
// and one where the part carved so far ends.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "runtime/arena.h"

namespace halo::runtime {

// Only a chunk's owner writes its bits, so a plain read-modify-write is enough; others may look for
// the end of a block that they hold.
class Starts {
 public:
  explicit Starts(const Chunk& chunk)
      : words_(arena.starts_of(chunk)), memory_(arena.memory_of(chunk)) {}

  void mark(const void* p) {
    const std::size_t at = granule_of(p);
    set(at / 64, get(at / 64) | (std::uint64_t{1} << (at % 64)));
  }

  bool is_marked(const void* p) const {
    const std::size_t at = granule_of(p);
    return (get(at / 64) >> (at % 64)) % 2 != 0;
  }

  // Bytes from `p`, where a block starts, to the next start.
  std::size_t distance_to_next(const void* p) const {
    const std::size_t start = granule_of(p);
    std::size_t word = (start + 1) / 64;
    if (word >= starts_words) return granule;
    std::uint64_t bits = get(word) & (~std::uint64_t{0} << ((start + 1) % 64));
    while (bits == 0 && ++word < starts_words) bits = get(word);
    if (bits == 0) return granule;  // cannot be: the frontier is marked
    return (word * 64 + static_cast<std::size_t>(std::countr_zero(bits)) - start) * granule;
  }

  // The last start before `p` and not before `from`; `from` where there is none.
  char* last_before(const void* p, char* from) const {
    std::size_t at = granule_of(p);
    const std::size_t least = granule_of(from);
    while (at > least) {
      const std::size_t last = at - 1, word = last / 64;
      const std::uint64_t bits = get(word) & (~std::uint64_t{0} >> (63 - last % 64));
      if (bits != 0) {
        const std::size_t found = word * 64 + 63 - static_cast<std::size_t>(std::countl_zero(bits));
        return found > least ? memory_ + found * granule : from;
      }
      at = word * 64;
    }
    return from;
  }

  // Clears the bits after `begin` and before `end`.
  void clear_between(const void* begin, const void* end) {
    std::size_t at = granule_of(begin) + 1;
    const std::size_t stop = granule_of(end);
    while (at < stop) {
      const std::size_t word = at / 64, first = at % 64;
      const std::size_t count = stop - at < 64 - first ? stop - at : 64 - first;
      const std::uint64_t ones = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
      set(word, get(word) & ~(ones << first));
      at += count;
    }
  }

  // Clears every bit up to the chunk's frontier.
  void clear_all() {
    for (std::size_t word = 0; word < starts_words; ++word)
      if (get(word) != 0) set(word, 0);
  }

 private:
  std::size_t granule_of(const void* p) const {
    return static_cast<std::size_t>(static_cast<const char*>(p) - memory_) / granule;
  }
  std::uint64_t get(std::size_t word) const { return words_[word].load(std::memory_order_relaxed); }
  void set(std::size_t word, std::uint64_t bits) {
    words_[word].store(bits, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t>* words_;
  char* memory_;
};

}  // namespace halo::runtime
