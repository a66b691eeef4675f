// Paths of files that are written at the end: the program may have changed its folder by then.
#pragma once

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cstddef>

namespace halo::litter {

template <std::size_t Size>
void make_absolute(const char* path, char (&result)[Size]) {
  char here[PATH_MAX];
  if (*path == '/' || getcwd(here, sizeof here) == nullptr)
    snprintf(result, Size, "%s", path);
  else
    snprintf(result, Size, "%s/%s", here, path);
}

// The first %p becomes the process id, as in HALO_STATS; cut off where there is no room.
template <std::size_t Size>
void put_process_id(char (&path)[Size]) {
  const char* mark = strstr(path, "%p");
  if (mark == nullptr) return;
  char result[Size];
  snprintf(result, Size, "%.*s%d%s", static_cast<int>(mark - path), path, getpid(), mark + 2);
  memcpy(path, result, Size);
}

}  // namespace halo::litter
