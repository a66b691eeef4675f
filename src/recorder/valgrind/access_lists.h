// The accesses of superblocks: their sizes, kinds and code addresses.
#pragma once

#include <cstdint>

#include "recorder/valgrind/api.h"

namespace halo::valgrind {

// A superblock's list is created at its translation and never freed. Its accesses are adjacent, so
// an index and a number of accesses identify a part of it. Equal lists are mostly stored once.
class AccessLists {
 public:
  struct Access {
    uint8_t tag;    // channel/word.h
    uint64_t code;  // only if codes are stored
  };

  // Returns false if memory is refused.
  bool reserve(bool with_codes);

  // The index of a new list; 0 if memory is refused: its accesses are then not recorded.
  uint32_t add(const Access* accesses, uint32_t count);

  // A name for the first `count` accesses of the list at that index, in 31 bits; never 0.
  static constexpr uint64_t name(uint32_t place, uint32_t count) {
    return uint64_t{place} << kCountBits | count;
  }
  static constexpr uint32_t place_of(uint64_t name) { return uint32_t(name >> kCountBits); }
  static constexpr uint32_t count_of(uint64_t name) {
    return uint32_t(name & ((1u << kCountBits) - 1));
  }

  const uint8_t* tags(uint32_t place) const { return tags_ + place; }
  // Null if codes are not stored.
  const uint64_t* codes(uint32_t place) const {
    return codes_ == nullptr ? nullptr : codes_ + place;
  }

 private:
  static constexpr int kCountBits = 8;
  static constexpr uint32_t kRoom = 1u << 23;
  static constexpr uint32_t kRecent = 1u << 14;

  bool is_at(uint32_t place, const Access* accesses, uint32_t count) const;

  uint8_t* tags_ = nullptr;
  uint64_t* codes_ = nullptr;
  uint32_t used_ = 1;
  uint32_t recent_[kRecent] = {};  // by hash: the index of a list with that hash
};

}  // namespace halo::valgrind
