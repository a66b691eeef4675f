// What a sink sees: events whose addresses have been resolved to objects.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/ids.h"

namespace halo::sinks {

// A tracked heap object. `gap_prev` and `gap_next` say how many allocation numbers away the
// previous and the next allocation from the same context are.
struct Object {
  static constexpr uint32_t kNone = UINT32_MAX;  // there is no such allocation (so far)
  static constexpr uint32_t kMaxSize = (1u << 28) - 1;

  uint64_t address;
  uint64_t seq;  // number of the allocation, counting tracked objects from 1: never reused
  base::ContextId context;
  uint32_t gap_prev;
  uint32_t gap_next;
  uint32_t size : 28;
  uint32_t freed : 1;
  uint32_t queued : 1;  // waits in the quarantine
};
static_assert(sizeof(Object) == 32);

inline uint32_t gap_between(uint64_t earlier, uint64_t later) {
  return uint32_t(std::min<uint64_t>(later - earlier, Object::kNone));
}

struct AllocEvent {
  base::ThreadId thread;
  base::ObjectId id;
  const Object* object;
};

struct FreeEvent {
  base::ThreadId thread;
  base::ObjectId id;
  const Object* object;
};

// The free reported last for this object did not take place.
struct ReviveEvent {
  base::ThreadId thread;
  base::ObjectId id;
  const Object* object;
};

struct AccessEvent {
  base::ThreadId thread;
  base::ObjectId id;
  const Object* object;
  uint64_t code;  // address of the instruction
  uint32_t offset;
  uint32_t size;
  uint32_t alignment;  // demanded by the instruction: 0, 16, 32 or 64
  bool store;
};

// Any access of the program, where all are asked for; `object` is null where it is to none that is
// tracked. AccessEvent comes as well.
struct MemoryEvent {
  base::ThreadId thread;
  const Object* object;
  uint64_t code;  // address of the instruction
  uint64_t address;
  uint32_t size;
  bool store;
};

// As RepeatEvent, after any access.
struct MemoryRepeatEvent {
  base::ThreadId thread;
  uint32_t count;
};

// The program asked for huge pages there.
struct HugePagesEvent {
  uint64_t address;
  uint64_t bytes;
};

// `count` further accesses by the thread within the 16 bytes that it accessed last.
struct RepeatEvent {
  base::ThreadId thread;
  uint32_t count;
};

// Accesses of all threads were left out before this. From here on each stands for `weight` ones.
struct BurstEvent {
  uint64_t weight;
};

struct ThreadEndEvent {
  base::ThreadId thread;
};

// Ids of objects freed before now will be reused: bring up to date what is kept about them.
struct ReuseEvent {};

}  // namespace halo::sinks
