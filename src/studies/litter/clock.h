// The time that durations are measured by.
#pragma once

#include <time.h>

namespace halo::litter {

// Seconds of CLOCK_MONOTONIC.
inline double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace halo::litter
