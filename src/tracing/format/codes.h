// The codes of packed events, and the head of a packed block (docs/trace-format.md, "Packing").
#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::trace {

// How word1 was predicted. If several codes are right: the site's last one (kAgain), else the
// lowest.
enum AddressCode : uint8_t {
  kAddressAgain = 0,    // by the code that was right last time at this site
  kAddressStride,       // the site's last address plus its last stride
  kAddressFromAddress,  // the previous access's address plus the site's last distance to it
  kAddressFromValue,    // likewise from the previous access's value: a pointer and a field
  kAddressFromEarlier,  // likewise from the value before that
  kAddressFromFrame,    // likewise from the innermost function's frame; for an exit, that frame
  kAddressFromOwn,      // likewise from the site's own last value: along a list
  kAddressFollowing,    // the address that followed the site's last one when that occurred before
  kAddressLiteral,
  kAddressCodes,
};

// How word2 was predicted; the literals state how many of its bytes follow.
enum ValueCode : uint8_t {
  kValueAgain = 0,    // as for addresses; literals have the same kind, too
  kValueImage,        // the last value at that address
  kValueLast,         // the site's last value
  kValueStride,       // the site's last value plus its last stride
  kValueImageStep,    // the last value at that address plus the site's last change of such a value
  kValuePrevious,     // the value of the previous access
  kValueEarlier,      // the value of the access before that
  kValueFromAddress,  // the previous access's address plus the site's last distance to it
  kValue1,            // literals of that many bytes, zero-extended
  kValue2,
  kValue4,
  kValueLow4,  // 4 bytes, below the upper half of the site's last value
  kValue8,
  kValueCodes,
};

inline constexpr uint8_t kLiteralBytes[kValueCodes] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 4, 8};

// A code byte is (second * kAddressCodes + address) * kValueCodes + value; `second` selects one of
// the two expected sites. If the site is neither, kSiteLiteral precedes it.
inline constexpr unsigned kPairs = unsigned(kAddressCodes) * kValueCodes;
inline constexpr uint8_t kSiteLiteral = 2 * kPairs;
static_assert(2 * kPairs < 256);

// In the stream, each code but 0 follows the number of zeros before it; this number means that more
// follow.
inline constexpr unsigned kFullRun = 255;

enum Stream { kCodeStream, kSiteStream, kAddressStream, kValueStream, kStreams };

// The maximum number of bytes per event in each stream.
inline constexpr size_t kMaxBytes[kStreams] = {4, 10, 10, 8};

struct StreamHead {
  uint32_t bytes;   // of the stream
  uint32_t packed;  // of the zstd frame that follows; equal to `bytes`: the stream itself follows
};

// The streams follow it.
struct BlockHead {
  uint32_t events;
  StreamHead streams[kStreams];
};
static_assert(sizeof(BlockHead) == 36);

}  // namespace halo::trace
