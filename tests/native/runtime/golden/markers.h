// The messages of the program to its counter: a system call that no kernel has, so without a
// counter it has no effect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace halo::golden {

inline constexpr int64_t marker_call = 0x474F4C44;

enum class Marker : uint64_t {
  text = 1,   // first and last + 1 address of the counted code
  begin = 2,  // the Path that starts
  end = 3,    // it ends
};

enum class Path : uint64_t {
  known_work,
  malloc_forwarded,
  free_forwarded,
  malloc_reused,
  malloc_bump,
  malloc_fourth_frame,
  free_grouped,
  new_forwarded,
  delete_forwarded,
  new_reused,
  delete_grouped,
  realloc_forwarded,
};

inline constexpr const char* path_names[] = {
    "known_work",       "malloc_forwarded",    "free_forwarded", "malloc_reused",
    "malloc_bump",      "malloc_fourth_frame", "free_grouped",   "new_forwarded",
    "delete_forwarded", "new_reused",          "delete_grouped", "realloc_forwarded",
};
inline constexpr size_t path_count = std::size(path_names);
static_assert(path_count == static_cast<size_t>(Path::realloc_forwarded) + 1);

}  // namespace halo::golden
