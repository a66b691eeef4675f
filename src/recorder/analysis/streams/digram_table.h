// The position of each digram (pair of adjacent symbols) of a grammar: an open-addressing hash
// table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halo::sinks {

// Stores the number of a digram's first symbol, never 0. The caller passes a hash of the digram's
// values, and a predicate that compares a stored symbol's values.
class DigramTable {
 public:
  DigramTable() : slots_(kInitialSlots) {}

  static uint32_t hash_of(uint32_t first, uint32_t second) {
    uint64_t mixed = (uint64_t(first) << 32 | second) * 0x9E3779B97F4A7C15ULL;
    mixed = (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9ULL;
    return uint32_t(mixed >> 32);
  }

  // Returns the stored symbol with the same values. If there is none, stores `symbol` and returns
  // 0.
  template <class Same>
  uint32_t find_or_insert(uint32_t hash, uint32_t symbol, const Same& same) {
    Slot& slot = slots_[place_of(hash, same)];
    if (slot.symbol != 0) return slot.symbol;
    slot = {symbol, hash};
    if (++used_ > slots_.size() / 8 * 5) grow();
    return 0;
  }

  // Likewise, but `symbol` replaces a stored one.
  template <class Same>
  void set(uint32_t hash, uint32_t symbol, const Same& same) {
    if (find_or_insert(hash, symbol, same) != 0) slots_[place_of(hash, same)].symbol = symbol;
  }

  // Removes the symbol if it is stored; another one with the same values stays.
  void remove(uint32_t hash, uint32_t symbol);

  void prefetch(uint32_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }

 private:
  static constexpr size_t kInitialSlots = 1024;

  struct Slot {
    uint32_t symbol = 0;
    uint32_t hash = 0;
  };

  template <class Same>
  size_t place_of(uint32_t hash, const Same& same) const {
    const size_t mask = slots_.size() - 1;
    size_t at = hash & mask;
    while (slots_[at].symbol != 0 && !(slots_[at].hash == hash && same(slots_[at].symbol)))
      at = (at + 1) & mask;
    return at;
  }
  void grow();

  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace halo::sinks
