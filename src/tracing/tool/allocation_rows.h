// Heap rows whose contents depend on later events.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "tracing/tool/heap_objects.h"

namespace halo::trace_tool {

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

// A thread's allocation site event follows its allocation; a cancelled free is reported after the
// free. Rows are delivered once neither can follow.
class AllocationRows {
 public:
  AllocationRows(std::function<void(const AllocationRow&)> allocated,
                 std::function<void(const FreeRow&)> freed)
      : allocated_(std::move(allocated)), freed_(std::move(freed)) {}

  HeapObjects& objects() { return objects_; }

  // An event of the allocator itself; `thread` as in the rows.
  void alloc(int64_t seq, int32_t thread, uint64_t address, uint64_t bytes);
  // Returns whether an object was freed, which uses up `seq`.
  bool free(int64_t seq, int32_t thread, uint64_t address);
  void revive(int32_t thread, uint64_t address);
  // An allocation site's event. Returns whether it is a row of its own, which uses up `seq`.
  bool site(int64_t seq, int32_t thread, uint64_t address, int32_t site, uint64_t elements,
            uint64_t element_bytes);
  // Delivers the rows of one thread.
  void finish(int32_t thread);
  // Likewise; the thread has ended.
  void end(int32_t thread);
  // Delivers all rows with a lower `seq`.
  void finish_below(int64_t seq);

 private:
  struct Waiting {
    AllocationRow allocation;  // seq 0: none
    FreeRow free;
  };

  Waiting& of(int32_t thread) { return threads_[thread]; }
  void deliver(AllocationRow& row);
  void deliver(FreeRow& row);

  std::function<void(const AllocationRow&)> allocated_;
  std::function<void(const FreeRow&)> freed_;
  HeapObjects objects_;
  std::map<int32_t, Waiting> threads_;  // those that have not ended
};

}  // namespace halo::trace_tool
