// Misses of caches of many sizes and associativities, in one pass over the accesses.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "simulator/cache.h"

namespace halo::simulator {

// Stack simulation (Mattson et al., IBM Systems Journal 1970; Hill and Smith, IEEE ToC 1989). With
// LRU replacement, a set of W ways holds the W lines of that set that were used last. So one stack
// of the 8 lines used last gives the hits of 1 to 8 ways, and there is a stack for each set of each
// number of sets. An access has a *depth* in each number of sets: the number of other lines of its
// set that were used since, at most 8. Caches of W ways miss if the depth is at least W.
//
// An access that touches two lines counts once, by the deeper one, as in Hierarchy. The line is 64
// bytes. Kinds of accesses share the caches, but are counted separately.
template <size_t Kinds>
class CacheSweep {
 public:
  static constexpr uint32_t kLine = 64;
  static constexpr std::array<uint32_t, 4> kWays = {1, 2, 4, 8};
  // Powers of two; all sizes between them are simulated as well.
  static constexpr uint64_t kMinBytes = 8 << 10, kMaxBytes = 1 << 20;

  CacheSweep() : stacks_(kMinSets * ((1 << kSetCounts) - 1)) {
    for (Stack& stack : stacks_) stack.fill(kNoLine);
  }

  // `size` in bytes, at least 1; `kind` from 0 on.
  void access(uint64_t address, uint32_t size, size_t kind) {
    const uint64_t first = address / kLine, last = (address + size - 1) / kLine;
    if (first == newest_ && last == newest_) return;
    Depths depths{};
    use(first, depths);
    if (last != first) use(last, depths);
    newest_ = last;
    for (size_t at = 0; at < kSetCounts && depths[at] != 0; ++at)
      ++reused_[kind][at][depths[at] - 1];
  }

  // Accesses of the kind that miss a cache of `bytes` and `ways`, two of those above.
  uint64_t misses(uint64_t bytes, uint32_t ways, size_t kind) const {
    const uint64_t sets = bytes / kLine / ways;
    const auto& by_depth = reused_[kind][size_t(std::countr_zero(sets / kMinSets))];
    uint64_t sum = 0;
    for (size_t depth = ways; depth <= kDepth; ++depth) sum += by_depth[depth - 1];
    return sum;
  }

 private:
  static constexpr size_t kDepth = kWays.back();
  static constexpr uint64_t kMinSets = kMinBytes / kLine / kDepth;
  static constexpr uint64_t kMaxSets = kMaxBytes / kLine;
  static constexpr size_t kSetCounts = std::bit_width(kMaxSets / kMinSets);  // powers of two
  static constexpr uint64_t kNoLine = UINT64_MAX;

  using Stack = std::array<uint64_t, kDepth>;      // numbers of lines, the most recently used first
  using Depths = std::array<uint8_t, kSetCounts>;  // by number of sets

  // The lines of a set with more sets are a subset of those with fewer. So the depth does not grow
  // with the number of sets, and from the first depth of 0 on, no stack changes.
  void use(uint64_t line, Depths& depths) {
    uint64_t sets = kMinSets, stacks = 0;
    for (uint8_t& depth : depths) {
      const uint8_t found = move_to_front(stacks_[stacks + (line & (sets - 1))], line);
      if (found == 0) return;
      depth = std::max(depth, found);
      stacks += sets;
      sets *= 2;
    }
  }

  // Returns the depth at which the line was.
  static uint8_t move_to_front(Stack& stack, uint64_t line) {
    uint64_t moved = line;
    for (size_t depth = 0; depth < kDepth; ++depth) {
      std::swap(moved, stack[depth]);
      if (moved == line) return uint8_t(depth);
    }
    return uint8_t(kDepth);
  }

  std::vector<Stack> stacks_;  // of all sets: those of the smallest number of sets first
  uint64_t newest_ = kNoLine;  // the line used last
  // Accesses by kind, number of sets, and depth - 1.
  std::array<std::array<std::array<uint64_t, kDepth>, kSetCounts>, Kinds> reused_{};
};

}  // namespace halo::simulator
