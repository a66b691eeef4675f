// Where the blocks of a group's single-size pages start.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "plan/format.h"
#include "runtime/heap/block_spacing.h"
#include "runtime/pages/page.h"

namespace halo::runtime {

// The slots of a way in which blocks may start; a slot is a 64th of the way. Pages are aligned to
// 64 KiB, twice the largest way, so an offset in a page determines the slot. (Yardımcı and Kaeli,
// section 3.2: the conflict table. Theirs is consulted for each address, at each allocation.)
struct StartMask {
  uint64_t slots = 0;      // not 0
  uint32_t way_shift = 0;  // log2 of the bytes of a way

  // The mask of a group that has one.
  static constexpr StartMask of(const plan::Group& settings) {
    return {settings.starts, (settings.flags & plan::kGroupWay) >> plan::kGroupWayBit};
  }

  constexpr uint32_t slot_bytes() const { return 1u << (way_shift - 6); }

  constexpr bool permits(uint32_t offset) const {
    return (std::rotr(slots, static_cast<int>(offset / slot_bytes() % 64)) & 1) != 0;
  }

  // The first permitted offset from `offset` on: the paper's stepping by lines, at once.
  constexpr uint32_t from(uint32_t offset) const {
    const uint32_t slot = offset / slot_bytes();
    const uint64_t ahead = std::rotr(slots, static_cast<int>(slot % 64));
    if ((ahead & 1) != 0) return offset;
    return (slot + static_cast<uint32_t>(std::countr_zero(ahead))) * slot_bytes();
  }

  // The offset of the permitted slot number `number`, which is below their count, in the first way.
  constexpr uint32_t nth(uint32_t number) const {
    uint64_t left = slots;
    for (; number != 0; --number) left &= left - 1;
    return static_cast<uint32_t>(std::countr_zero(left)) * slot_bytes();
  }

  // The first permitted offset behind a block that starts at `offset`. Blocks of a way or more take
  // the permitted slots in turn. Such blocks, and those of whole pairs of lines, start further on
  // in a window that they enter, by another distance in each way. Else all windows would have their
  // starts in the same sets.
  constexpr uint32_t behind(uint32_t offset, uint32_t block) const {
    const bool whole_way = block >> way_shift != 0 && std::popcount(slots) > 1;
    const uint32_t step = block + (whole_way ? slot_bytes() : 0);
    const uint32_t entered = from(offset + step);
    if (entered == offset + step || (!whole_way && block % (2 * kLine) != 0)) return entered;
    const uint32_t unit = whole_way ? slot_bytes() : kLine;
    const uint32_t distances = std::max(1u, step % (1u << way_shift) / unit);
    const uint32_t rotated = entered + (entered >> way_shift) % distances * unit;
    return permits(rotated) ? rotated : entered;
  }
};

class PageLayout {
 public:
  // Blocks are spread over the sets of a way of 4 KiB.
  constexpr PageLayout() = default;

  explicit constexpr PageLayout(const plan::Group& settings) {
    if ((settings.flags & plan::kGroupPacked) != 0) kind_ = Kind::kPacked;
    line_start_ = (settings.flags & plan::kGroupLineStart) != 0;
    if ((settings.flags & plan::kGroupMasked) == 0) return;
    mask_ = StartMask::of(settings);
    kind_ = settings.starts == UINT64_MAX ? Kind::kSpread : Kind::kMasked;
    sets_ = (1u << mask_.way_shift) / kLine;
  }

  // The offset of the first block in page number `page`: in a permitted slot, if the block has at
  // most half a page. A larger one starts at 0 if no permitted slot has room.
  constexpr uint32_t first(uint32_t page, uint32_t block) const {
    if (kind_ == Kind::kSpread) return first_of_spread(page, block);
    if (kind_ == Kind::kPacked) return 0;
    const auto permitted = static_cast<uint32_t>(std::popcount(mask_.slots));
    const uint32_t begin = mask_.nth(golden_share(page, permitted));
    const uint32_t least = begin + block <= kPageSize ? begin : mask_.from(0);
    return least + block <= kPageSize ? least : 0;
  }

  // A row of blocks `step` bytes apart, the first at `offset`, the last at most `room` bytes
  // further on. `behind`: the offset of the block behind them. `first` is that of the page.
  struct Row {
    uint32_t count, step, behind;
  };
  constexpr Row row(uint32_t first, uint32_t offset, uint32_t room, uint32_t block) const {
    if (kind_ == Kind::kMasked) return masked_row(offset, room, spaced(block));
    if (kind_ == Kind::kPacked) {
      const uint32_t count = room / block + 1;
      return {count, block, offset + count * block};
    }
    const BlockSpacing spacing = spacing_in_pages(spaced(block), sets_);
    const auto [count, behind] = spacing.row(offset - first, room + spacing.step);
    return {count, spacing.step, first + behind};
  }

  // Whether a block starts at `offset` in a page whose first one is at `first`.
  constexpr bool has_start(uint32_t first, uint32_t offset, uint32_t block) const {
    uint32_t at = first;
    while (at < offset) {
      const Row blocks = row(first, at, offset - at, block);
      const uint32_t distance = offset - at;
      if (distance % blocks.step == 0 && distance / blocks.step < blocks.count) return true;
      at = blocks.behind;
    }
    return at == offset;
  }

 private:
  // The bytes from block to block, before they are spread.
  constexpr uint32_t spaced(uint32_t block) const {
    return line_start_ ? (block + kLine - 1) / kLine * kLine : block;
  }
  constexpr uint32_t first_of_spread(uint32_t page, uint32_t block) const {
    const uint32_t first = first_offset(page, spaced(block), sets_);
    return first + block <= kPageSize ? first : 0;
  }

  enum class Kind : uint8_t { kSpread, kPacked, kMasked };

  constexpr Row masked_row(uint32_t offset, uint32_t room, uint32_t block) const {
    uint32_t count = 1, behind = mask_.behind(offset, block);
    const uint32_t step = behind - offset;
    while (behind - offset <= room && mask_.behind(behind, block) - behind == step) {
      behind += step;
      ++count;
    }
    return {count, step, behind};
  }

  StartMask mask_;
  uint32_t sets_ = kSets;
  Kind kind_ = Kind::kSpread;
  bool line_start_ = false;  // each block starts at a cache line
};

}  // namespace halo::runtime
