// Paths of files that are written later: the program may have changed its folder by then.
#pragma once

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cstddef>

namespace halo {

// Cut off if there is no room. Returns the length of the whole path.
template <size_t Size>
size_t make_absolute(const char* path, char (&result)[Size]) {
  char here[PATH_MAX];
  const bool relative = *path != '/' && getcwd(here, sizeof here) != nullptr;
  if (!relative) here[0] = '\0';
  return static_cast<size_t>(snprintf(result, Size, "%s%s%s", here, relative ? "/" : "", path));
}

// The path with the process id in place of its first %p; cut off if there is no room.
template <size_t Size>
void insert_process_id(const char* path, char (&result)[Size]) {
  const char* mark = strstr(path, "%p");
  if (mark == nullptr)
    snprintf(result, Size, "%s", path);
  else
    snprintf(result, Size, "%.*s%d%s", static_cast<int>(mark - path), path, getpid(), mark + 2);
}

}  // namespace halo
