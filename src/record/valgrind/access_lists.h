// What the accesses of superblocks are: their size, kind and place in the code.
#pragma once

#include <cstdint>

#include "record/valgrind/api.h"

namespace halo::record::valgrind {

// Each superblock's list is made when it is translated and kept for good; its accesses follow one
// another, so that a place in it and a number of accesses tell what a part of it is. Lists that are
// alike are mostly kept once.
class AccessLists {
 public:
  struct Access {
    uint8_t tag;    // channel/word.h
    uint64_t code;  // only kept where codes are
  };

  // False where there is no room for them.
  bool reserve(bool with_codes);

  // The place of a new list; 0 where there is no room for it: then its accesses go unrecorded.
  uint32_t add(const Access* accesses, uint32_t count);

  // Names the first `count` accesses of the list at that place, in 31 bits; never 0.
  static constexpr uint64_t name(uint32_t place, uint32_t count) {
    return uint64_t{place} << kCountBits | count;
  }
  static constexpr uint32_t place_of(uint64_t name) { return uint32_t(name >> kCountBits); }
  static constexpr uint32_t count_of(uint64_t name) {
    return uint32_t(name & ((1u << kCountBits) - 1));
  }

  const uint8_t* tags(uint32_t place) const { return tags_ + place; }
  // Null where codes are not kept.
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
  uint32_t recent_[kRecent] = {};  // by hash: the place of a list like that
};

}  // namespace halo::record::valgrind
