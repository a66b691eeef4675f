// A map from addresses to heap objects, small and large.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/ids.h"
#include "base/mapped_array.h"
#include "recorder/analysis/shadow_map.h"

namespace halo::trace_tool {

// Small objects are found by their 16-byte granules, large ones in an ordered map. Unlike the
// sinks' object table it is not limited in size, and it numbers each object by its allocation.
class HeapObjects {
 public:
  static constexpr uint64_t kLarge = 64 * 1024;  // minimum size of a large object in bytes

  struct Place {
    int64_t object = 0;  // 0: none
    uint64_t offset = 0;
  };

  // Numbers the object, ascending from 1. Ends an object that is still at the address.
  int64_t add(uint64_t address, uint64_t bytes);
  // The object that started there; 0 if unknown.
  int64_t free(uint64_t address);
  // Cancels the latest free of that address. Returns false if another object is there now.
  bool revive(uint64_t address, uint64_t bytes, int64_t object);

  Place find(uint64_t address) {
    const Small& small = small_[base::index(map_.find(address))];
    if (address - small.address < small.bytes) return {small.object, address - small.address};
    return large_.empty() ? Place{} : find_large(address);
  }
  // The size of the live object that starts there; 0 if none does.
  uint64_t size_at(uint64_t address);

 private:
  // Zeroed while unused.
  struct Small {
    uint64_t address, bytes;
    int64_t object;
  };
  struct Large {
    uint64_t bytes;
    int64_t object;
  };
  using LargeAt = std::map<uint64_t, Large>::const_iterator;

  Place find_large(uint64_t address);
  void put(uint64_t address, uint64_t bytes, int64_t object);

  sinks::ShadowMap map_;
  base::MappedArray<Small> small_{1ULL << 30, 1ULL << 16};  // by the id in the map; 0: none
  uint32_t next_unused_ = 1;
  std::vector<uint32_t> unused_;
  std::map<uint64_t, Large> large_;  // by address
  uint64_t newest_begin_ = 0;        // cache of the large object found last
  Large newest_{};
  int64_t last_ = 0;
};

}  // namespace halo::trace_tool
