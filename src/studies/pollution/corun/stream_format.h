// A stream: what one program asks of the last-level cache, in order (docs/corun.md).
//
// A file has a StreamHead, then `requests` words, `owners` OwnerEntries and `regions` words. Each
// of the three has a checksum, and so has the head. A region word is the number of a region: an
// address over 2 MiB. halo/studies/pollution/corun/stream_format.py is generated from this file.
#pragma once

#include <cstdint>

namespace halo::corun {

inline constexpr char kStreamMagic[8] = {'h', 'a', 'l', 'o', '-', 'r', 'e', 'q'};
inline constexpr uint32_t kStreamVersion = 1;

struct StreamHead {
  char magic[8];
  uint32_t version;
  uint32_t private_levels;  // checksum of the private levels' description: only equal ones mix
  uint32_t line_bytes;      // powers of two
  uint32_t page_bytes;
  uint64_t requests;  // words
  uint64_t owners;
  uint64_t regions;
  uint64_t accesses;        // of the program, repeats included
  uint64_t cycles;          // of its own clock, without the costs of the last level
  uint32_t complete;        // 1: the program ended; 0: the stream is cut
  uint32_t requests_check;  // CRC-32
  uint32_t owners_check;
  uint32_t regions_check;
  uint32_t unused;
  uint32_t head_check;  // of all bytes before it
};

// Whose lines a request is for: the memory outside objects (the first owner), or the objects of a
// context that have the same classes. A class is 0 for open and 1 for confined.
struct OwnerEntry {
  uint64_t requests;  // without write-backs
  uint32_t context;
  uint8_t is_object;
  uint8_t exact;      // by the reuse of its context, known from the end (reuse_classes.h)
  uint8_t predicted;  // by the watch when it was allocated
  uint8_t online;     // likewise, and moved by the watch later
  uint8_t learnt;     // likewise, by a watch that has seen two earlier runs
  uint8_t unused[7];
};

// A request is a word. From the lowest bit: line, owner, cycles since the request before, kind. The
// line's upper bits are the region's index, its lower ones the line in the region.
inline constexpr uint32_t kLineBits = 30;
inline constexpr uint32_t kOwnerBits = 16;
inline constexpr uint32_t kCycleBits = 15;
inline constexpr uint32_t kRegionShift = 21;

enum class RequestKind : uint32_t {
  kDemand = 0,    // the program waits for the line
  kJoined = 1,    // likewise, for the second line of the same access
  kFill = 2,      // a line that a higher level wrote back, and a private level did not have
  kPrefetch = 3,  // into a private level
  kWriteBack = 4,
  kPass = 5,   // no request: line and cycles, as one number, are cycles that passed
  kAhead = 6,  // a prefetch into the last level alone
};

}  // namespace halo::corun
