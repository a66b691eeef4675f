// Creates a process's own file: PATH, or PATH.<pid> if another process has that.
#pragma once

#include <limits.h>

#include <cstddef>

namespace halo::logging {

class NewFile {
 public:
  // Makes the path absolute, since programs change directory. False if it is empty or too long.
  bool set_path(const char* path);
  // PATH is another process's; this process uses its own name from now on.
  void is_taken() { taken_ = true; }
  // Returns a descriptor of a new, empty file, or of the device at that path; -1 with errno.
  int create();

 private:
  char path_[PATH_MAX]{};
  bool taken_ = false;
};

}  // namespace halo::logging
