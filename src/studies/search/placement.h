// Serves the objects of a trace from the runtime's own heaps, in this process.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "simulator/hierarchy.h"
#include "studies/layouts/packing.h"
#include "studies/search/candidate.h"
#include "studies/search/stored_trace.h"

namespace halo::predict {

// The code is that of libhalo.so, so an object gets the offset from the start of the arena that it
// gets in the program, if the program has one thread. Addresses are as if the arena began at
// layout::kFirstAddress. The runtime has one arena in a process: only one object of this class can
// be used in it.
class Placement {
 public:
  // False if memory is refused.
  bool open(const Candidate& candidate);

  // The object's address: in the arena, or as recorded if it is forwarded.
  uint64_t allocate(const StoredObject& object);
  // That of an object that realloc makes of the one at `old`.
  uint64_t reallocate(uint64_t old, const StoredObject& object);
  void free(uint64_t address);

  // Calls use(address, bytes) for the memory of a block of huge pages, once for each slab.
  template <class Use>
  void report_huge_pages(uint64_t address, const Use& use) {
    if (huge_groups_ && is_huge(address) && huge_slabs_.insert(address / kSlab).second)
      use(address / kSlab * kSlab, kSlab);
  }

  // Objects that were in the arena when they were allocated.
  uint64_t grouped() const { return grouped_; }
  // Those of groups with mixed-size pages.
  uint64_t mixed() const { return mixed_; }
  // The maximum of bytes in pages that heaps own.
  uint64_t peak_bytes() const { return peak_pages_ * kPage; }

 private:
  static constexpr uint64_t kPage = 64 << 10;  // bytes
  static constexpr uint64_t kSlab = 2 << 20;   // bytes
  static bool is_huge(uint64_t address);

  const Candidate* candidate_ = nullptr;
  bool huge_groups_ = false;
  std::unordered_set<uint64_t> huge_slabs_;
  uint64_t grouped_ = 0, mixed_ = 0;
  uint64_t peak_pages_ = 0;
};

}  // namespace halo::predict
