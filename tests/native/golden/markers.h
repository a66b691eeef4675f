// How the program whose fast paths are counted speaks to the plugin that counts: by a system call
// that no kernel has, so that natively nothing happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace halo::golden {

inline constexpr std::int64_t marker_call = 0x474F4C44;

enum class Marker : std::uint64_t {
  text = 1,   // first and last + 1 address of the code that counts
  begin = 2,  // the Path that is taken next
  end = 3,    // it has been taken
};

enum class Path : std::uint64_t {
  known_work,
  malloc_forwarded,
  free_forwarded,
  malloc_reused,
  malloc_carved,
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
    "malloc_carved",    "malloc_fourth_frame", "free_grouped",   "new_forwarded",
    "delete_forwarded", "new_reused",          "delete_grouped", "realloc_forwarded",
};
inline constexpr std::size_t path_count = std::size(path_names);
static_assert(path_count == static_cast<std::size_t>(Path::realloc_forwarded) + 1);

}  // namespace halo::golden
