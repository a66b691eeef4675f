// Rows about the heap whose meaning the events that follow them decide.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "record/llvm/heap_objects.h"

namespace halo::record::llvm {

struct AllocationRow {
  int64_t seq = 0;
  int32_t thread = 0;
  int64_t object = 0;  // 0: by an allocator of the program's own
  uint64_t address = 0;
  uint64_t bytes = 0;
  int32_t site = 0;
  uint64_t elements = 0, element_bytes = 0;
};

struct FreeRow {
  int64_t seq = 0;  // 0: none
  int32_t thread = 0;
  int64_t object = 0;
  uint64_t address = 0, bytes = 0;
};

// What a thread's latest allocation is of, its allocation site says after it; that its latest free
// has not taken place, the allocator does. Rows are handed out when neither can come any more.
class AllocationRows {
 public:
  AllocationRows(std::function<void(const AllocationRow&)> allocated,
                 std::function<void(const FreeRow&)> freed)
      : allocated_(std::move(allocated)), freed_(std::move(freed)) {}

  HeapObjects& objects() { return objects_; }

  // By the allocator itself; `thread` as in the rows.
  void alloc(int64_t seq, int32_t thread, uint64_t address, uint64_t bytes);
  // Returns whether it was an object, and used `seq`.
  bool free(int64_t seq, int32_t thread, uint64_t address);
  void revive(int32_t thread, uint64_t address);
  // An allocation site's event. Returns whether it was a row of its own, and used `seq`.
  bool site(int64_t seq, int32_t thread, uint64_t address, int32_t site, uint64_t elements,
            uint64_t element_bytes);
  // Hands out the rows of one thread, or those of all whose `seq` is below a number.
  void settle(int32_t thread);
  void settle_below(int64_t seq);

 private:
  struct Waiting {
    AllocationRow allocation;  // seq 0: none
    FreeRow free;
  };

  Waiting& of(int32_t thread);
  void hand_out(AllocationRow& row);
  void hand_out(FreeRow& row);

  std::function<void(const AllocationRow&)> allocated_;
  std::function<void(const FreeRow&)> freed_;
  HeapObjects objects_;
  std::vector<Waiting> threads_;
};

}  // namespace halo::record::llvm
