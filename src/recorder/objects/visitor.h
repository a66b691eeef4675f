// The events of an object trace.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "recorder/objects/allocation.h"

namespace halo::objects {

// A visitor that ignores every event. Others derive from it, and hide the members for the events
// that they need. Numbers are allocation numbers, of objects that were allocated or defined before.
struct Visitor {
  void allocate(const Allocation&) {}
  void define(const Allocation&) {}  // an object older than the trace
  void free(uint64_t /*number*/) {}
  void revive(uint64_t /*number*/) {}  // its free did not happen
  void align(uint64_t /*number*/) {}   // it was requested with an alignment of its own
  // realloc made it of `replaced`, which was freed before it was allocated.
  void reallocate(uint64_t /*number*/, uint64_t /*replaced*/) {}
  void huge_pages(uint64_t /*address*/, uint64_t /*bytes*/) {}
  void phase(uint64_t /*first*/, uint64_t /*last*/) {}  // accesses, counted from 0
  void access(base::ThreadId, uint64_t /*number*/, uint32_t /*offset*/, uint32_t /*size*/,
              bool /*store*/) {}
  void access_outside(base::ThreadId, uint64_t /*address*/, uint32_t /*size*/, bool /*store*/) {}
  // An access to the block of an object that is not allocated yet or freed already, only from
  // AllocatorAccesses. The offset is from the object's address.
  void access_block(base::ThreadId, uint64_t /*number*/, int64_t /*offset*/, uint32_t /*size*/,
                    bool /*store*/) {}
  void repeat(base::ThreadId, uint64_t /*count*/) {}  // of the thread's last access
};

}  // namespace halo::objects
