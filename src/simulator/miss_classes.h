// Compulsory, capacity and conflict misses of one cache (Hill and Smith, IEEE ToC 1989).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "simulator/cache.h"
#include "simulator/recency_list.h"
#include "simulator/regions.h"

namespace halo::simulator {

// The result of an access in the real cache, compared with a fully associative cache of the same
// size, the shadow.
enum class MissClass : uint8_t {
  kCompulsory,  // a miss of a line that was never used before
  kCapacity,    // a miss of the real cache and of the shadow
  kConflict,    // a miss of the real cache alone
  kAnti,        // a hit of the real cache, but a miss of the shadow
  kHit,         // a hit of both
};

// Accesses by class; hits are not counted. For each cache without prefetching, the misses are
// compulsory + capacity + conflict, and the shadow's misses compulsory + capacity + anti.
using ClassCounts = std::array<uint64_t, size_t(MissClass::kHit)>;

class MissClassifier {
 public:
  // `line`: bytes, a power of two.
  MissClassifier(Shape shape, uint32_t line)
      : line_shift_(std::countr_zero(line)),
        regions_(line_shift_, Regions::kShift),
        shadow_(size_t{shape.sets} * shape.ways) {}

  // Classifies an access that the real cache has just served; `missed`: the cache lacked one of its
  // lines. Like Hierarchy::access(), it uses the first and the last line of the access.
  MissClass access(uint64_t address, uint32_t size, bool missed) {
    const uint64_t first = address >> line_shift_, last = (address + size - 1) >> line_shift_;
    if (first == newest_ && last == newest_) return missed ? MissClass::kConflict : MissClass::kHit;
    RecencyList::Found found = use(first);
    if (last != first) found = std::max(found, use(last));
    newest_ = last;
    if (found == RecencyList::Found::kHeld) return missed ? MissClass::kConflict : MissClass::kHit;
    if (!missed) return MissClass::kAnti;
    return found == RecencyList::Found::kNever ? MissClass::kCompulsory : MissClass::kCapacity;
  }

  // Lines that the shadow lacked; an access to two of them counts twice.
  uint64_t shadow_misses() const { return shadow_misses_; }

 private:
  RecencyList::Found use(uint64_t line) {
    const uint32_t name = uint32_t(line) + regions_.of(line >> lines_shift()).to_line;
    const RecencyList::Found found = shadow_.use(name);
    if (found != RecencyList::Found::kHeld) ++shadow_misses_;
    return found;
  }
  int lines_shift() const { return Regions::kShift - line_shift_; }

  int line_shift_;
  uint64_t newest_ = UINT64_MAX;  // number of the line used last
  Regions regions_;
  RecencyList shadow_;
  uint64_t shadow_misses_ = 0;
};

}  // namespace halo::simulator
