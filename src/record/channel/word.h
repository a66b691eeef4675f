// The 64-bit word: what an engine in another process tells the consumer.
#pragma once

#include <cstdint>

namespace halo::record::channel {

// What a word says; its payload is an address of the recorded program unless said otherwise.
enum class WordKind : uint8_t {
  kAccess,       // a load or store at the address
  kCode,         // code address of the access that follows; only where all accesses are recorded
  kCall,         // stack slot of a return address, which follows as a raw word
  kReturn,       // stack slot that a return address was loaded from
  kStackMoved,   // the stack pointer was loaded from elsewhere
  kThread,       // payload: number of the thread that the words after it belong to
  kThreadEnd,    // the current thread ends; its number may be used again
  kAlloc,        // raw words follow: size, stack slot of the call's return address
  kFree,         // the object at the address ends
  kRevive,       // the last free of this thread did not happen
  kHugePages,    // raw word follows: bytes for which the program asks for huge pages
  kMapsChanged,  // code may have been mapped anew
  kForgetCode,   // raw word follows: bytes from the address on that will be unmapped
  kReadMaps,     // the memory map will soon be gone: read it now
  kForget,       // what was recorded so far counts for nothing
  kBurst,        // accesses are recorded; payload: how often each of them is to count
  kGap,          // from here on accesses are not recorded
  kFork,         // the next descriptors on the connection belong to a forked child
  kEnd,          // the program has ended in an orderly way
};

// Packed: payload 48 bits, 4 unused, kind 6, of an access: alignment class 2, log2 of the size 3,
// store 1.
class Word {
 public:
  static constexpr int kPayloadShift = 16;

  constexpr explicit Word(uint64_t bits) : bits_(bits) {}
  static constexpr Word make(WordKind kind, uint64_t payload) {
    return Word(payload << kPayloadShift | uint64_t(kind) << kKindShift);
  }

  // The lower bits of an access. `alignment_class` as in trace/record.h.
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

}  // namespace halo::record::channel
