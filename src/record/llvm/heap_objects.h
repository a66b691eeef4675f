// Which heap object lies at an address, small or large.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/ids.h"
#include "sinks/mapped_array.h"
#include "sinks/shadow_map.h"

namespace halo::record::llvm {

// Small objects are found by their 16-byte granules, large ones in an ordered map. Not limited in
// size, unlike the sinks' table of objects, and each object is numbered by its allocation.
class HeapObjects {
 public:
  static constexpr uint64_t kLarge = 64 * 1024;  // bytes, from here on

  struct Place {
    int64_t object = 0;  // 0: none
    uint64_t offset = 0;
  };

  // Numbers it from 1, ascending. What is there already and has not been freed ends.
  int64_t add(uint64_t address, uint64_t bytes);
  // The object that began there; 0 where none is known.
  int64_t free(uint64_t address);
  // Undoes the latest free of that address. False where something lies there by now.
  bool revive(uint64_t address, uint64_t bytes, int64_t object);

  Place find(uint64_t address) {
    const Small& small = small_[base::index(map_.find(address))];
    if (address - small.address < small.bytes) return {small.object, address - small.address};
    return large_.empty() ? Place{} : find_large(address);
  }
  // The size of the live object that begins there; 0 where there is none.
  uint64_t size_at(uint64_t address);

 private:
  // All zero where it is free.
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
  sinks::MappedArray<Small> small_{1ULL << 30, 1ULL << 16};  // by id in the map; 0 is none
  uint32_t next_unused_ = 1;
  std::vector<uint32_t> unused_;
  std::map<uint64_t, Large> large_;  // by address
  uint64_t newest_begin_ = 0;        // the large object found last
  Large newest_{};
  int64_t last_ = 0;
};

}  // namespace halo::record::llvm
