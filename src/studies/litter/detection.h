// The counts of the detector, and its output file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/output.h"
#include "studies/litter/pages.h"
#include "studies/litter/size_classes.h"

namespace halo::litter {

// Counts of all allocations, or of those that a plan assigns to one group.
struct SizeCounts {
  std::atomic<uint64_t> bins[kSizeClasses];
};

// The counts of one program, shared by its threads and forked processes. Live objects are counted
// per process, starting with those alive at the fork. Allocates nothing and takes no lock.
class Detection {
 public:
  // Returns false if memory was refused; nothing is counted then.
  bool open();
  // Counts by group as well, for a plan with that many groups, if memory is available. Called once.
  void map_groups(uint32_t groups) { by_group_.map(groups, MAP_SHARED); }

  // `group`: the group that the plan assigns, or -1.
  void allocated(size_t size, int32_t group);
  void freed() { live_.fetch_sub(1, std::memory_order_relaxed); }
  void revived() { live_.fetch_add(1, std::memory_order_relaxed); }

  // Writes the complete file or none. `program` is the path of the executable. Returns false on
  // failure.
  bool write(const char* path, const char* program) const;

 private:
  struct Totals {
    std::atomic<uint64_t> bytes, larger_bytes, maximum, max_live;
    std::atomic<uint64_t> minimum_complement;  // complemented, so that it starts at 0
    SizeCounts sizes;
  };

  void print(Output& out, const char* program) const;

  std::atomic<int64_t> live_{0};
  Pages<Totals> totals_;
  Pages<SizeCounts> by_group_;
};

}  // namespace halo::litter
