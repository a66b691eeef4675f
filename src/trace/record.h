// The event as it travels from a producer to the sinks: a 16-byte record.
#pragma once

#include <bit>
#include <cstdint>

#include "base/ids.h"

namespace halo::trace {

enum class Kind : uint8_t {
  kAccess,     // word1: code address
  kEpoch,      // word1: merge key, see epoch_merge.h; the records after it belong to that epoch
  kAlloc,      // word1: size; always followed by a kContext record
  kContext,    // word1: node of the reduced call stack
  kFree,       // the object at the address ends
  kRevive,     // the free of the object at the address did not happen (a failed realloc)
  kThreadEnd,  // last record of a thread
  kFlush,      // nothing but its repeats
  kHugePages,  // the program asks for huge pages there; word1: bytes
  kBurst,      // accesses were left out before this; word1: how often each counts from here on
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
  // `alignment_class`: what the instruction demands, 0: nothing, else 16, 32, 64 bytes for 1, 2, 3.
  static constexpr Record access(uint64_t address, uint32_t size_log2, bool store,
                                 uint32_t alignment_class, uint64_t code) {
    return {(address & kAddressMask) | uint64_t(size_log2 & 7) << 52 | uint64_t(store) << 55 |
                uint64_t(alignment_class & 3) << 56,
            code};
  }
  // How many further accesses the *previous* access record of this thread stands for. Any record
  // but a marker may say so.
  constexpr Record with_repeats(uint32_t repeats) const {
    return {word0 | uint64_t(repeats) << 58, word1};
  }

  constexpr uint64_t address() const { return word0 & kAddressMask; }
  constexpr Kind kind() const { return Kind((word0 >> 48) & 15); }
  constexpr uint32_t size() const { return 1u << ((word0 >> 52) & 7); }
  constexpr bool store() const { return (word0 >> 55) & 1; }
  constexpr uint32_t alignment_class() const { return (word0 >> 56) & 3; }
  constexpr uint32_t repeats() const { return uint32_t(word0 >> 58); }
};
static_assert(sizeof(Record) == 16);

constexpr uint32_t alignment_of_class(uint32_t alignment_class) {
  return alignment_class == 0 ? 0 : 8u << alignment_class;
}

}  // namespace halo::trace
