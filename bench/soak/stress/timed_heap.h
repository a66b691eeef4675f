// malloc and free with the time of each call, to find the longest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "micro/clock.h"

namespace stress {

// The time of a call is bounded by the wall time, and by the processor time since its last reading.
// The former includes the time in which other threads ran. Reading the processor time is slow, so
// it happens every 64 calls and after a long one. Page faults within a call count.
class TimedHeap {
 public:
  void* make(size_t bytes) {
    const double start = begin();
    void* block = std::malloc(bytes);
    end(start, worst_malloc_);
    return block;
  }

  void drop(void* block) {
    const double start = begin();
    std::free(block);
    end(start, worst_free_);
  }

  double worst_malloc_ns() const { return worst_malloc_; }
  double worst_free_ns() const { return worst_free_; }

 private:
  static constexpr unsigned kCallsBetween = 64;

  double begin() {
    if (calls_++ % kCallsBetween == 0) {
      ran_ = thread_ns();
    }
    return wall_ns();
  }

  void end(double start, double& worst) {
    const double wall = wall_ns() - start;
    if (wall > worst) {
      const double ran = thread_ns();
      worst = std::max(worst, std::min(wall, ran - ran_));
      ran_ = ran;
    }
  }

  double ran_ = 0;
  double worst_malloc_ = 0;
  double worst_free_ = 0;
  unsigned calls_ = 0;
};

}  // namespace stress
