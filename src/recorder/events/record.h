// The event between producers and sinks: a 16-byte record.
#pragma once

#include <bit>
#include <cstdint>

#include "base/ids.h"

namespace halo::events {

enum class Kind : uint8_t {
  kAccess,       // word1: code address
  kEpoch,        // word1: merge key, see epoch_merge.h; applies to the following records
  kAlloc,        // word1: size; a kContext record always follows
  kContext,      // word1: node of the reduced call stack
  kFree,         // the object at the address ends; word1: merge key or 0, as in kEpoch
  kRevive,       // cancels the free of the object at the address (a failed realloc); word1: so
  kThreadEnd,    // last record of a thread
  kFlush,        // carries only its repeats
  kHugePages,    // the program requests huge pages; word1: bytes
  kBurst,        // accesses before it are not recorded; address: a BurstScope; word1: the weight of
                 // each access behind it
  kAligned,      // the request of the object at the address had an alignment of its own
  kReallocated,  // the object at the address replaces the last one that its thread freed
  kPhase,        // word1: 1 if the thread enters the phase's function, 0 if it leaves it
  kOfStream,     // only between the native engine and its consumer (channel/streams.h)
};

enum class BurstScope : uint8_t {
  kAllThreads,
  kThread,       // of the record
  kThreadExact,  // so, and each access represents itself alone
  kGoesOn,       // the thread's burst goes on, with another weight
};

// Packed: address 48 bits, kind 4, log2 of the size 3, store 1, alignment class 2, repeats 6.
struct Record {
  uint64_t word0;
  uint64_t word1;

  static constexpr uint64_t kAddressMask = (1ULL << 48) - 1;
  static constexpr uint32_t kMaxRepeats = 63;

  static constexpr Record make(Kind kind, uint64_t address, uint64_t word1) {
    return {(address & kAddressMask) | uint64_t(kind) << 48, word1};
  }
  // `alignment_class`: the alignment that the instruction requires. 0: none; 1, 2, 3: 16, 32, 64
  // bytes.
  static constexpr Record access(uint64_t address, uint32_t size_log2, bool store,
                                 uint32_t alignment_class, uint64_t code) {
    return {(address & kAddressMask) | uint64_t(size_log2 & 7) << 52 | uint64_t(store) << 55 |
                uint64_t(alignment_class & 3) << 56,
            code};
  }
  // A record of kind kOfStream. `kind`: one of 16.
  static constexpr Record of_stream(uint8_t kind, uint64_t address, uint64_t word1) {
    const Record plain = make(Kind::kOfStream, address, word1);
    return {plain.word0 | uint64_t(kind & 15) << 52, word1};
  }
  // The number of further accesses that the *previous* access record of this thread represents. Any
  // record but a marker may carry it.
  constexpr Record with_repeats(uint32_t repeats) const {
    return {word0 | uint64_t(repeats) << 58, word1};
  }

  constexpr uint64_t address() const { return word0 & kAddressMask; }
  constexpr Kind kind() const { return Kind((word0 >> 48) & 15); }
  constexpr uint8_t stream_kind() const { return uint8_t(word0 >> 52 & 15); }
  constexpr uint32_t size() const { return 1u << ((word0 >> 52) & 7); }
  constexpr bool store() const { return (word0 >> 55) & 1; }
  constexpr uint32_t alignment_class() const { return (word0 >> 56) & 3; }
  constexpr uint32_t repeats() const { return uint32_t(word0 >> 58); }
};
static_assert(sizeof(Record) == 16);

constexpr uint32_t alignment_of_class(uint32_t alignment_class) {
  return alignment_class == 0 ? 0 : 8u << alignment_class;
}

}  // namespace halo::events
