// The 64-bit word: the unit of an engine's messages to the consumer.
#pragma once

#include <cstdint>

namespace halo::channel {

// The kind of a word. Its payload is an address of the recorded program unless noted otherwise.
enum class WordKind : uint8_t {
  kAccess,        // a load or store at the address
  kCode,          // code address of the access that follows; only if all accesses are recorded
  kCall,          // stack slot of a return address, which follows as a raw word
  kReturn,        // stack slot from which a return address was loaded
  kStackMoved,    // the stack pointer was loaded from elsewhere
  kThread,        // payload: number of the thread of the following words
  kThreadEnd,     // the current thread ends; its number may be reused
  kAlloc,         // raw words follow: size, stack slot of the call's return address
  kFree,          // the object at the address ends
  kRevive,        // cancels the last free of this thread
  kAligned,       // the request of the object at the address had an alignment of its own
  kReallocated,   // the object at the address replaces the last one that this thread freed
  kHugePages,     // raw word follows: size of the range for which the program requests huge pages
  kMapsChanged,   // code may have been mapped
  kMakesCode,     // memory was mapped for code that the program generates; payload: 0
  kCodeUnmapped,  // raw word follows: size of the range at the address that will be unmapped
  kReadMaps,      // the memory map will soon disappear: read it now
  kDropEvents,    // all events recorded so far are dropped
  kBurst,         // accesses are recorded; payload: the weight of each
  kGap,           // accesses are no longer recorded
  kFork,          // the next descriptors on the connection belong to a forked child
  kEnd,           // the program has ended normally
};

// Packed: payload 48 bits, unused 4, kind 6; for an access alignment class 2, log2 of the size 3,
// store 1.
class Word {
 public:
  static constexpr int kPayloadShift = 16;
  static constexpr uint32_t kMaxAccessBytes = 128;

  constexpr explicit Word(uint64_t bits) : bits_(bits) {}
  static constexpr Word make(WordKind kind, uint64_t payload) {
    return Word(payload << kPayloadShift | uint64_t(kind) << kKindShift);
  }

  // The lower bits of an access. `alignment_class` as in events/record.h.
  static constexpr uint8_t access_tag(uint32_t size_log2, bool store, uint32_t alignment_class) {
    return uint8_t(size_log2 << kSizeShift | alignment_class << kAlignmentShift | store);
  }

  static constexpr Word access(uint64_t address, uint8_t tag) {
    return Word(address << kPayloadShift | tag);
  }

  constexpr uint64_t bits() const { return bits_; }
  constexpr WordKind kind() const { return WordKind(bits_ >> kKindShift & 63); }
  constexpr uint64_t payload() const { return bits_ >> kPayloadShift; }
  constexpr bool store() const { return (bits_ & 1) != 0; }
  constexpr uint32_t size_log2() const { return uint32_t(bits_ >> kSizeShift & 7); }
  constexpr uint32_t alignment_class() const { return uint32_t(bits_ >> kAlignmentShift & 3); }

 private:
  static constexpr int kSizeShift = 1, kAlignmentShift = 4, kKindShift = 6;

  uint64_t bits_;
};

}  // namespace halo::channel
