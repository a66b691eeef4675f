// The object trace: every access of one process, in the order in which it was simulated, with the
// objects that were allocated (docs/layouts.md).
//
// A file has a FileHead and blocks. A block has a BlockHead and its payload: `ops` bytes of
// operations, then operands, both packed by zstd. Operands are varints, least significant group
// first; signed ones are zigzag encoded. State that operands are relative to continues over blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halo::objects {

inline constexpr std::array<char, 8> kMagic = {'h', 'a', 'l', 'o', '-', 'o', 'b', 'j'};
inline constexpr uint32_t kVersion = 5;

struct FileHead {
  std::array<char, 8> magic = kMagic;
  uint32_t version = kVersion;
  uint32_t unused = 0;
};
static_assert(sizeof(FileHead) == 16);

enum class BlockKind : uint32_t { kEvents = 0, kEnd = 1 };

// The end block has no payload. Events may follow it, if the process went on; a complete file ends
// with one.
struct BlockHead {
  BlockKind kind = BlockKind::kEvents;
  uint32_t ops = 0;       // bytes of operations
  uint32_t operands = 0;  // bytes
  uint32_t packed = 0;    // bytes of the payload
  uint64_t check = 0;     // XXH64 of the payload; seed: kind, ops and operands added up
};
static_assert(sizeof(BlockHead) == 24);

inline constexpr uint32_t kMaxOps = 1 << 20;                // of a block, before its last event
inline constexpr uint32_t kMaxOperands = kMaxOps * 4 * 10;  // bytes; an operation has 4 at most

// An operation is a byte. Accesses: bits 0 to 2 are the binary logarithm of the size, 7 if the size
// is the first operand; bit 3 is set for stores; bits 4 and 5 are the target, bits 6 and 7 are 0.
enum class Target : uint8_t {
  kSameObject = 0,   // as the thread's last access to an object; operand: distance from its offset
  kOtherObject = 1,  // operands: distance of allocation numbers, offset
  kOutside = 2,      // operand: distance from the thread's last address outside objects
};
inline constexpr uint8_t kSizeInOperand = 7;
inline constexpr uint8_t kStoreBit = 1 << 3;
inline constexpr int kTargetShift = 4;

// Bit 7 set, bit 6 clear: a control operation.
inline constexpr uint8_t kControl = 1 << 7;
enum class Control : uint8_t {
  kThread = kControl,  // operand: the thread of all that follows
  kAllocate,           // of the number behind the greatest so far; operands: address, from that
                       // of the last allocation or definition; size; context
  kDefine,             // of an object older than the trace: number, then as kAllocate
  kFree,               // operand: the greatest number so far minus that of the object
  kRevive,             // the object's free did not happen; operand: as of kFree
  kHugePages,          // operands: address, bytes
  kAlign,       // the object was requested with an alignment of its own; operand: as of kFree
  kReallocate,  // realloc made the object of a freed one; operands: both, as of kFree
  kPhase,       // operands: the first access of the phase, and the last minus it, counting
                // accesses from 0 without repeats; the latest such operation counts
  kSkip,        // operand: the number of allocations that are not in the trace, before the next one
  kContents,    // what an object held, which readers skip; operands: the object, as of kFree; a
                // number; as many words
};

// Bits 6 and 7 set: further accesses to the 16 bytes that the thread accessed last. The other bits
// are their number minus 1, or kManyRepeats if the number is the operand.
inline constexpr uint8_t kRepeat = 3 << 6;
inline constexpr uint8_t kManyRepeats = 63;

constexpr uint64_t zigzag(int64_t value) { return uint64_t(value) << 1 ^ uint64_t(value >> 63); }
constexpr int64_t unzigzag(uint64_t value) { return int64_t(value >> 1) ^ -int64_t(value & 1); }

// What operands of a thread's accesses are relative to.
struct ThreadState {
  uint64_t object = 0;   // allocation number
  uint64_t offset = 0;   // in that object
  uint64_t outside = 0;  // address
};

}  // namespace halo::objects
