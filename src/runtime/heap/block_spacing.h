// The offsets of the blocks in a single-size page.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "runtime/pages/page.h"

namespace halo::runtime {

inline constexpr uint32_t kLine = 64;
inline constexpr uint32_t kSets = 64;  // of a first-level cache: 4 KiB per way

// Spreads blocks over all cache sets. If a block's number of lines shares a factor g with the
// number of sets, blocks would start in 1 / g of the sets. So large blocks are one line further
// apart, which costs at most a sixteenth. Small ones skip a line after each sets / g blocks, and
// any run of them starts in all sets equally.
struct BlockSpacing {
  uint32_t step;          // bytes between starts of neighbouring blocks
  uint32_t before_a_gap;  // bytes of blocks between two skipped lines; 0: no line is skipped

  // `all_sets`: number of sets, a power of two.
  static constexpr BlockSpacing of(uint32_t block, uint32_t all_sets = kSets) {
    const bool aliases = block % (2 * kLine) == 0;
    if (!aliases || block > kPageSize / 2) return {block, 0};
    if (block >= 16 * kLine) return {block + kLine, 0};
    return {block, all_sets / std::gcd(block / kLine, all_sets) * block};
  }

  // The offset of the block behind the one at `offset`, relative to the first block.
  constexpr uint32_t next(uint32_t offset) const {
    const uint32_t behind = offset + step;
    if (before_a_gap == 0 || behind % (before_a_gap + kLine) != before_a_gap) return behind;
    return behind + kLine;
  }

  // A row of blocks that are `step` bytes apart, from `offset` on and within `bytes`: their number,
  // and the offset of the block behind them.
  struct Row {
    uint32_t count, behind;
  };
  constexpr Row row(uint32_t offset, uint32_t bytes) const {
    const uint32_t count = bytes / step;
    if (before_a_gap == 0) return {count, offset + count * step};
    const uint32_t to_gap = before_a_gap - offset % (before_a_gap + kLine);
    if (count * step < to_gap) return {count, offset + count * step};
    return {to_gap / step, offset + to_gap + kLine};
  }
};

// A number below `count` for a page: the fraction of `page` times the golden ratio, so that any
// number of pages divides the range evenly.
constexpr uint32_t golden_share(uint32_t page, uint32_t count) {
  constexpr uint32_t kGolden = 2654435769;  // 2^32 over the golden ratio
  return static_cast<uint32_t>(uint64_t{page * kGolden} * count >> 32);
}

// If at most `kFew` large blocks fit in a page, they do not use all sets of it.
inline constexpr uint32_t kFew = 20;

// Whether pages can begin at all sets, as if their blocks, `step` bytes apart, were one row. Some
// pages then have one block less: a thirty-second of all blocks at most.
constexpr bool pages_form_a_row(uint32_t step) {
  const auto blocks = static_cast<uint32_t>(kPageSize / step);
  const auto room = static_cast<uint32_t>(kPageSize % step);
  return blocks <= kFew && room / kLine + 2 * blocks >= kSets - 1;
}

// The spacing of blocks in pages. With ways of 4 KiB, a few large blocks follow each other directly
// if their pages do not form a row. The room which that leaves is where the page begins.
constexpr BlockSpacing spacing_in_pages(uint32_t block, uint32_t all_sets = kSets) {
  const BlockSpacing spacing = BlockSpacing::of(block, all_sets);
  if (spacing.step == block || all_sets > kSets) return spacing;
  if (kPageSize / spacing.step > kFew || pages_form_a_row(spacing.step)) return spacing;
  return {block, 0};
}

// The offset of the first block of page number `page`. Pages are often traversed together; with
// equal offsets, their blocks would compete for the same cache sets.
//
// Large blocks that would start in few sets use few sets of a page. With ways of 4 KiB, a page
// begins where the page before it ended, modulo the sets, if pages form a row. If not, it moves as
// far as it has room. (137 is prime.)
//
// With ways of more than 4 KiB, a page has too few such blocks to use all sets. Pages then begin at
// all lines of a step. A page has one block less at most.
constexpr uint32_t first_offset(uint32_t page, uint32_t block, uint32_t all_sets = kSets) {
  const bool aliases = BlockSpacing::of(block, all_sets).step != block;
  const uint32_t step = spacing_in_pages(block, all_sets).step;
  const auto room = static_cast<uint32_t>(kPageSize % step);
  const bool spread = step != block;
  if (spread && all_sets > kSets) return golden_share(page, step / kLine) * kLine;
  if (spread && pages_form_a_row(step)) {
    const auto blocks = static_cast<uint32_t>(kPageSize / step);
    return page * blocks * (step / kLine) % kSets * kLine;
  }
  if (aliases) return page * 137 % std::min(room / kLine + 1, kSets) * kLine;
  const uint32_t staggered = page * 5 % 16 * kLine;
  return block <= kPageSize / 16 || staggered <= room ? staggered : room / kLine * kLine;
}

}  // namespace halo::runtime
