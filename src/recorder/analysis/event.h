// The events of sinks: their addresses are resolved to objects.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/ids.h"

namespace halo::sinks {

// A tracked heap object. `gap_prev` and `gap_next` are the distances, in allocation numbers, to the
// previous and the next allocation of the same context.
struct Object {
  static constexpr uint32_t kNone = UINT32_MAX;  // no such allocation so far
  static constexpr uint32_t kMaxSize = (1u << 28) - 1;

  uint64_t address;
  uint64_t seq;  // number of the allocation, counting from 1 those of all objects; never reused
  base::ContextId context;
  uint32_t gap_prev;
  uint32_t gap_next;
  uint32_t size : 28;
  uint32_t freed : 1;
  uint32_t queued : 1;  // is in the quarantine
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

// Cancels the last free of this object.
struct ReviveEvent {
  base::ThreadId thread;
  base::ObjectId id;
  const Object* object;
};

// The request of the object had an alignment of its own, of which its address is a multiple.
struct AlignedEvent {
  const Object* object;
};

// realloc made this object of another one, which has been freed.
struct ReallocatedEvent {
  const Object* object;
  uint64_t replaced;  // allocation number
};

struct AccessEvent {
  base::ThreadId thread;
  base::ObjectId id;
  const Object* object;
  uint64_t code;  // address of the instruction
  uint32_t offset;
  uint32_t size;
  uint32_t alignment;  // required by the instruction: 0, 16, 32 or 64
  bool store;
  uint64_t weight;  // how many accesses of the program it represents
};

// Any access of the program, if a sink requests all; `object` is null if it is not tracked. An
// AccessEvent is sent as well.
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

// The program requested huge pages for this range.
struct HugePagesEvent {
  uint64_t address;
  uint64_t bytes;
};

// The process whose events follow. Its memory map is that of /proc/PROCESS/maps.
struct ProcessEvent {
  pid_t process;
};

// A thread enters the function that is a phase, or leaves it.
struct PhaseEvent {
  bool enters;
};

// `count` further accesses by the thread within the 16 bytes that it accessed last.
struct RepeatEvent {
  base::ThreadId thread;
  uint32_t count;
  uint64_t weight;  // of each
};

// A burst begins: accesses before this were not recorded.
struct BurstEvent {
  std::optional<base::ThreadId> thread;  // without a value: all threads
  bool is_exact;                         // each access represents itself alone
};

struct ThreadEndEvent {
  base::ThreadId thread;
};

// Ids of freed objects are about to be reused: sinks must update their data about them.
struct ReuseEvent {};

}  // namespace halo::sinks
