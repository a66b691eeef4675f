// Values of objects as elements of hints.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/load_bytes.h"
#include "tidy/include/halo/tidy_rules.h"
#include "tidy/page_memory.h"

namespace halo::tidy {

inline constexpr unsigned kBytesOfKind[TIDY_KINDS] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

// The value of that kind in the low bytes; `kind` is below TIDY_KINDS.
inline double decoded(uint64_t bits, unsigned kind) {
  const auto as = [bits]<class T>(T value) {
    std::memcpy(&value, &bits, sizeof(value));
    return static_cast<double>(value);
  };
  switch (kind) {
    case TIDY_I8:
      return as(int8_t{});
    case TIDY_U8:
      return as(uint8_t{});
    case TIDY_I16:
      return as(int16_t{});
    case TIDY_U16:
      return as(uint16_t{});
    case TIDY_I32:
      return as(int32_t{});
    case TIDY_U32:
      return as(uint32_t{});
    case TIDY_I64:
      return as(int64_t{});
    case TIDY_U64:
      return as(uint64_t{});
    case TIDY_F32:
      return as(float{});
    default:
      return as(double{});
  }
}

// Reads `bytes` bytes, 1, 2, 4 or 8, behind a pointer; false if they are not within a page of
// Tidy's that is in use, all of which is readable.
inline bool follow(uint64_t pointer, unsigned behind, unsigned bytes, uint64_t& value) {
  const auto* const p = reinterpret_cast<const char*>(pointer);
  if (!page_memory.contains(p) || page_memory.heap_of(p) == nullptr) return false;
  if (page_memory.place_of(p) % kPageBytes + behind + bytes > kPageBytes) return false;
  value = load_bytes(p + behind, bytes);
  return true;
}

// The element of a hint: the number of the interval of that width that has the value. `behind` is
// -1, or where the value is that counts, from where the given one points to. False if it is not
// known.
inline bool element_of(uint64_t value, unsigned kind, int behind, double width, unsigned& element) {
  if (behind >= 0 && !follow(value, static_cast<unsigned>(behind), kBytesOfKind[kind], value))
    return false;
  element = tidy_bin(decoded(value, kind), width);
  return true;
}

}  // namespace halo::tidy
