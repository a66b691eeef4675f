// Where the blocks of a page of equal ones lie.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "runtime/page.h"

namespace halo::runtime {

inline constexpr std::uint32_t line = 64;
inline constexpr std::uint32_t sets = 64;  // of a first-level cache: 4 KiB a way

// Blocks of a number of lines that shares a factor g with the number of cache sets would begin in
// 1 / g of the sets. Large ones are a line further apart, which costs at most a sixteenth; small
// ones leave a line out after each sets / g blocks, so that any run of them begins in all sets
// alike.
struct BlockSpacing {
  std::uint32_t step;          // bytes from block to block
  std::uint32_t before_a_gap;  // bytes of blocks between two lines that are left out; 0: none is

  static constexpr BlockSpacing of(std::uint32_t block) {
    const bool aliases = block % (2 * line) == 0;
    if (!aliases || block > page_size / 2) return {block, 0};
    if (block >= 16 * line) return {block + line, 0};
    return {block, sets / std::gcd(block / line, sets) * block};
  }

  // The place of the block behind the one at `offset`, from the page's first block on.
  constexpr std::uint32_t next(std::uint32_t offset) const {
    const std::uint32_t behind = offset + step;
    if (before_a_gap == 0 || behind % (before_a_gap + line) != before_a_gap) return behind;
    return behind + line;
  }

  // The blocks that lie `step` bytes apart from `offset` on, of those in the next `bytes`: how
  // many, and where the block behind them lies.
  struct Row {
    std::uint32_t count, behind;
  };
  constexpr Row row(std::uint32_t offset, std::uint32_t bytes) const {
    const std::uint32_t count = bytes / step;
    if (before_a_gap == 0) return {count, offset + count * step};
    const std::uint32_t to_gap = before_a_gap - offset % (before_a_gap + line);
    if (count * step < to_gap) return {count, offset + count * step};
    return {to_gap / step, offset + to_gap + line};
  }
};

// Where the first block of the page with that number lies, from the page's start on: pages are
// walked together, and were they all to begin at the same offset, their blocks would compete for
// the same cache sets. Few blocks that lie a line further apart leave sets to other pages, as far
// as there is room to move them. (137 is prime, and near 37 of 50 lines: pages of 4 KiB blocks.)
constexpr std::uint32_t first_offset(std::uint32_t page, std::uint32_t block) {
  const std::uint32_t step = BlockSpacing::of(block).step;
  const auto room = static_cast<std::uint32_t>(page_size % step);
  if (step != block) return page * 137 % std::min(room / line + 1, sets) * line;
  const std::uint32_t staggered = page * 5 % 16 * line;
  return block <= page_size / 16 || staggered <= room ? staggered : room / line * line;
}

}  // namespace halo::runtime
