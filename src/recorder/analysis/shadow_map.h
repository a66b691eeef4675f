// The map from addresses to objects: one id for each 16-byte granule of the heap.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/mapped_array.h"

namespace halo::sinks {

// Two levels: a sparse top table, and a leaf of 256 KiB for each MiB in which an object was seen.
// Entries are never cleared: the object's own bounds reveal a stale one.
class ShadowMap {
 public:
  static constexpr int kGranuleShift = 4;
  static constexpr int kLeafShift = 20;
  static constexpr int kAddressBits = 47;

  // The object last stored at the granule of this address, or 0.
  base::ObjectId find(uint64_t address) const {
    const uint32_t* leaf = leaf_of(address);
    return base::ObjectId{leaf == nullptr ? 0 : leaf[granule_in_leaf(address)]};
  }
  void prefetch(uint64_t address) const {
    const uint32_t* leaf = leaf_of(address);
    if (leaf != nullptr) __builtin_prefetch(&leaf[granule_in_leaf(address)]);
  }

  // Returns false if the address is out of range or memory for a leaf is refused.
  bool put(uint64_t address, uint32_t size, base::ObjectId id);

  uint64_t leaves() const { return leaves_; }

 private:
  static constexpr uint64_t kLeafEntries = 1ULL << (kLeafShift - kGranuleShift);

  static uint64_t granule_in_leaf(uint64_t address) {
    return (address >> kGranuleShift) & (kLeafEntries - 1);
  }
  const uint32_t* leaf_of(uint64_t address) const {
    return top_[(address >> kLeafShift) & ((1ULL << (kAddressBits - kLeafShift)) - 1)];
  }
  uint32_t* make_leaf(uint64_t address);

  base::MappedArray<uint32_t*> top_{1ULL << (kAddressBits - kLeafShift),
                                    1ULL << (kAddressBits - kLeafShift)};
  uint64_t leaves_ = 0;
};

}  // namespace halo::sinks
