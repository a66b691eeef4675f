// The size distribution of a program, as the detector recorded it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "studies/litter/pages.h"

namespace halo::litter {

inline constexpr uint32_t kNoGroup = UINT32_MAX;

// Objects of one size in one group, or in no group.
struct Kind {
  uint64_t count;
  uint32_t size;  // in bytes; the class of larger ones: their mean, at most 4 GiB
  uint32_t group;
};

struct Distribution {
  uint64_t allocations = 0;
  uint64_t max_live = 0;
  uint32_t groups = 0;  // number of groups in the detector's counts
  Pages<Kind> kinds;    // those with a count
};

// Returns nullptr, or an error as the end of a sentence that begins with the path. With `by_group`,
// the objects of each group are kinds of their own. Does not allocate from the heap.
const char* read_distribution(const char* path, bool by_group, Distribution& result);

}  // namespace halo::litter
