// Numbers strings that extend a numbered string by one terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halo::sinks {

class StringTable {
 public:
  StringTable() : keys_(kInitialSlots), numbers_(kInitialSlots) {}

  // The number of the string `prefix` + `terminal`: dense, in order of first call.
  uint32_t number_of(uint32_t prefix, uint32_t terminal) {
    // Stored plus one: a zero key is an empty slot.
    const uint64_t key = (uint64_t(prefix) << 32 | terminal) + 1;
    size_t at = place_of(key);
    if (keys_[at] == key) return numbers_[at];
    if (used_ >= keys_.size() / 8 * 5) {
      grow();
      at = place_of(key);
    }
    keys_[at] = key;
    return numbers_[at] = used_++;
  }

 private:
  static constexpr size_t kInitialSlots = 1024;

  static size_t mix(uint64_t key) {
    key *= 0x9E3779B97F4A7C15ULL;
    return (key ^ key >> 29) * 0xBF58476D1CE4E5B9ULL >> 24;
  }
  // The key's slot, or an empty slot for it.
  size_t place_of(uint64_t key) const {
    const size_t mask = keys_.size() - 1;
    size_t at = mix(key) & mask;
    while (keys_[at] != key && keys_[at] != 0) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<uint64_t> keys(keys_.size() * 2);
    std::vector<uint32_t> numbers(keys.size());
    keys.swap(keys_);
    numbers.swap(numbers_);
    for (size_t at = 0; at < keys.size(); ++at) {
      if (keys[at] == 0) continue;
      const size_t to = place_of(keys[at]);
      keys_[to] = keys[at];
      numbers_[to] = numbers[at];
    }
  }

  std::vector<uint64_t> keys_;
  std::vector<uint32_t> numbers_;
  uint32_t used_ = 0;
};

}  // namespace halo::sinks
