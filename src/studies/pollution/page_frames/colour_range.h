// Colours of page frames: the part of a cache set's index that the frame decides (NightWatch,
// section 2.1).
#pragma once

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace halo::frames {

// The colours from `low` up to `high` of `total`; a frame's colour is its number modulo `total`.
struct ColourRange {
  static constexpr uint32_t kMaxTotal = 4096;

  uint32_t low = 0;
  uint32_t high = 0;  // the first one beyond
  uint32_t total = 0;

  // The default is not valid.
  bool is_valid() const {
    return std::has_single_bit(total) && total <= kMaxTotal && low < high && high <= total;
  }
  uint32_t count() const { return high - low; }
  uint32_t colour_of(uint64_t frame) const { return static_cast<uint32_t>(frame % total); }
  bool contains(uint64_t frame) const { return colour_of(frame) >= low && colour_of(frame) < high; }

  // From `FIRST-LAST/TOTAL`. Not valid if the text is not.
  static ColourRange parse(const char* text) {
    ColourRange range;
    const char* const end = text + std::strlen(text);
    const auto number = [&](uint32_t& value, char behind) {
      const auto [at, error] = std::from_chars(text, end, value);
      const bool good =
          error == std::errc{} && (behind == 0 ? at == end : at < end && *at == behind);
      text = at + 1;
      return good;
    };
    uint32_t last = 0;
    if (!number(range.low, '-') || !number(last, '/') || !number(range.total, 0)) return {};
    if (last >= range.total) return {};
    range.high = last + 1;
    return range;
  }
};

}  // namespace halo::frames
