// The size distribution of a program, as the detector left it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "litter/pages.h"

namespace halo::litter {

inline constexpr std::uint32_t no_group = UINT32_MAX;

// Objects of one size, of one group or of none.
struct Kind {
  std::uint64_t count;
  std::uint32_t size;  // bytes; of the larger ones their mean, at most 4 GiB
  std::uint32_t group;
};

struct Distribution {
  std::uint64_t allocations = 0;
  std::uint64_t most_live = 0;
  std::uint32_t groups = 0;  // that the detector told apart
  Pages<Kind> kinds;         // those with a count
};

// nullptr, or what is wrong with the file, as the end of a sentence that begins with its path. With
// `by_group` a group's objects are kinds of their own. Allocates nothing from the heap.
const char* read_distribution(const char* path, bool by_group, Distribution& result);

}  // namespace halo::litter
