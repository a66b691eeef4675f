// The file that a process takes for itself: PATH, or PATH.<pid> where another has that.
#pragma once

#include <limits.h>

#include <cstddef>

namespace halo::logging {

class NewFile {
 public:
  // Made absolute: programs change their folder. False where it is empty or too long.
  bool set_path(const char* path);
  // The path is another process's; from now on this one takes a name of its own.
  void is_taken() { taken_ = true; }
  // A descriptor of a new, empty file, or of the device at that path; -1 with errno.
  int create();

 private:
  char path_[PATH_MAX]{};
  bool taken_ = false;
};

}  // namespace halo::logging
