// What the detector counts, and the file that it leaves.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "litter/pages.h"
#include "litter/size_classes.h"

namespace halo::litter {

// Of all allocations, or of those that a plan puts into one group.
struct SizeCounts {
  std::atomic<std::uint64_t> bins[size_classes];
};

// Counts of one program: shared by its threads and by the processes that it forks. What is alive is
// each process's own, and begins with what was alive as it was forked. Allocates nothing and takes
// no lock.
class Detection {
 public:
  // False where memory was refused: then nothing is counted.
  bool open();
  // From now on also by group of a plan that has so many, where there is memory for it. Once.
  void tell_groups_apart(std::uint32_t groups) { by_group_.map(groups, MAP_SHARED); }

  // `group`: where a plan would put it, or -1.
  void allocated(std::size_t size, std::int32_t group);
  void freed() { live_.fetch_sub(1, std::memory_order_relaxed); }
  void revived() { live_.fetch_add(1, std::memory_order_relaxed); }

  // Complete or not at all. `program` is the path of the executable. False where it failed.
  bool write(const char* path, const char* program) const;

 private:
  struct Totals {
    std::atomic<std::uint64_t> allocations, bytes, larger_bytes, maximum, most_live;
    std::atomic<std::uint64_t> minimum_complement;  // so that it begins at 0
    SizeCounts sizes;
  };

  void print(int fd, const char* program, bool& complete) const;

  std::atomic<std::int64_t> live_{0};
  Pages<Totals> totals_;
  Pages<SizeCounts> by_group_;
};

}  // namespace halo::litter
