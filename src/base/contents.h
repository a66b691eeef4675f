// The contents of an object that recorders read: its first bytes, as words.
#pragma once

#include <algorithm>
#include <cstdint>

namespace halo::base {

inline constexpr uint32_t kMaxContentsWords = 16;

// The number of bytes that are read of an object of that size.
constexpr uint64_t contents_bytes(uint64_t size) {
  return std::min<uint64_t>(size, kMaxContentsWords * sizeof(uint64_t));
}

// The number of words that these bytes fill. The last word is extended by zeros.
constexpr uint32_t contents_words(uint64_t size) {
  return uint32_t((contents_bytes(size) + sizeof(uint64_t) - 1) / sizeof(uint64_t));
}

}  // namespace halo::base
