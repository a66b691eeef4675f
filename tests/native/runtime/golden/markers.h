// The messages of the program to its counter: a system call that no kernel has, so without a
// counter it has no effect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace halo::golden {

inline constexpr int64_t kMarkerCall = 0x474F4C44;

enum class Marker : uint64_t {
  kText = 1,   // first and last + 1 address of the counted code
  kBegin = 2,  // the Path that starts
  kEnd = 3,    // it ends
};

enum class Path : uint64_t {
  kKnownWork,
  kMallocForwarded,
  kFreeForwarded,
  kMallocReused,
  kMallocBump,
  kMallocFourthFrame,
  kFreeGrouped,
  kNewForwarded,
  kDeleteForwarded,
  kNewReused,
  kDeleteGrouped,
  kReallocForwarded,
};

inline constexpr const char* kPathNames[] = {
    "known_work",       "malloc_forwarded",    "free_forwarded", "malloc_reused",
    "malloc_bump",      "malloc_fourth_frame", "free_grouped",   "new_forwarded",
    "delete_forwarded", "new_reused",          "delete_grouped", "realloc_forwarded",
};
inline constexpr size_t kPathCount = std::size(kPathNames);
static_assert(kPathCount == static_cast<size_t>(Path::kReallocForwarded) + 1);

}  // namespace halo::golden
