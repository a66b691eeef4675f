// Whether a preloaded library is meant for this process: children that run other programs inherit
// LD_PRELOAD.
#pragma once

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "studies/litter/variables.h"

namespace halo::litter {

// The executable of this process; empty if the kernel does not report it.
class OwnProgram {
 public:
  OwnProgram() {
    const ssize_t length = readlink("/proc/self/exe", path_, sizeof path_ - 1);
    path_[length > 0 ? length : 0] = '\0';
  }

  const char* path() const { return path_; }

  // Whether the variable is unset or names this program.
  bool is_meant_by(const char* variable) const {
    const char* meant = value_of(variable);
    return meant == nullptr || strcmp(meant, path_) == 0;
  }

 private:
  char path_[PATH_MAX];
};

}  // namespace halo::litter
