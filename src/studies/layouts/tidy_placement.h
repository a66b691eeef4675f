// Addresses of objects if Tidy placed them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "studies/layouts/object_keys.h"
#include "tidy/cell_heap.h"

namespace halo::layout {

// A range of addresses that Tidy accesses.
struct OwnAccess {
  uint64_t address;
  uint32_t bytes;
};

// Tidy's own heap, on addresses that do not exist: objects are from kFirstAddress on (packing.h),
// Tidy's tables from kFirstTable on. `keys` must outlive it. Not for several threads.
class TidyPlacement {
 public:
  static constexpr uint64_t kFirstTable = 0x3400'0000'0000;

  // If hints are ignored, objects are placed as those without a key. Throws std::runtime_error if
  // memory is refused, as allocate() does.
  TidyPlacement(const ObjectKeys& keys, const tidy::HeapSettings& settings, bool ignores_hints);
  ~TidyPlacement();
  TidyPlacement(const TidyPlacement&) = delete;
  TidyPlacement& operator=(const TidyPlacement&) = delete;

  // Whether an object is Tidy's: it has a key, and is not larger than a bucket.
  bool places(uint64_t number, uint32_t size) const;
  // The address of an object that is Tidy's.
  uint64_t allocate(uint64_t number, uint32_t size);
  void free(uint64_t address);

  // What the latest call accesses of Tidy's tables, in order. The addresses are always the same for
  // the same calls.
  const std::vector<OwnAccess>& own_accesses() const;

 private:
  struct Model;

  const ObjectKeys& keys_;
  const bool ignores_hints_;
  const std::unique_ptr<Model> model_;
};

}  // namespace halo::layout
