// Which programs a library of ours is meant for: children that inherit LD_PRELOAD are others.
#pragma once

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace halo::litter {

// The executable of this process; empty where the kernel does not tell.
class OwnProgram {
 public:
  OwnProgram() {
    const ssize_t length = readlink("/proc/self/exe", path_, sizeof path_ - 1);
    path_[length > 0 ? length : 0] = '\0';
  }

  const char* path() const { return path_; }

  // Whether the variable names no program, or this one.
  bool is_meant_by(const char* variable) const {
    const char* meant = getenv(variable);
    return meant == nullptr || *meant == '\0' || strcmp(meant, path_) == 0;
  }

 private:
  char path_[PATH_MAX];
};

}  // namespace halo::litter
