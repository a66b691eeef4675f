// Which objects of a mix are confined to the restricted part of the last level.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "studies/pollution/corun/mix.h"

namespace halo::corun {

enum class Classes : uint8_t {
  kOpen,       // none
  kExact,      // by their reuse
  kOnline,     // by the watch, which also moves objects
  kPredicted,  // likewise, without moves
  kLearnt,     // by a watch that has seen two earlier runs
  kConfined,   // all
  kSelected,   // so that the program alone misses least (selection.h)
  kRandom,     // those of random contexts, as many as `exact` confines mostly
};

std::optional<Classes> classes_of(std::string_view name);

// For each program and owner, whether it is confined on that machine. `seed` chooses the random
// contexts, among those with at least a hundredth of their program's requests for objects.
std::vector<std::vector<bool>> confined_owners(const simulator::Machine& machine,
                                               const Colours& colours,
                                               const std::vector<const Stream*>& programs,
                                               Classes classes, uint64_t seed);

}  // namespace halo::corun
