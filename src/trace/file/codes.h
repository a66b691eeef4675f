// The codes of packed events, and the head of a packed block (docs/trace-format.md, "Packing").
#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::trace::file {

// How word1 was predicted. Of several that are right: the site's own (kAgain), then the first.
enum AddressCode : uint8_t {
  kAddressAgain = 0,    // by what was right the last time at this site
  kAddressStride,       // the site's last one and its last step
  kAddressFromAddress,  // the address of the access before, and the site's last distance to it
  kAddressFromValue,    // the value of the access before, likewise: a pointer and a field
  kAddressFromEarlier,  // the value before that one, likewise
  kAddressFromFrame,    // the innermost function's frame, likewise; of an exit that frame
  kAddressFromOwn,      // the site's own last value, likewise: along a list
  kAddressFollowing,    // what followed the site's last one when it was there before
  kAddressLiteral,
  kAddressCodes,
};

// How word2 was predicted; the literals say how many bytes of it are written down.
enum ValueCode : uint8_t {
  kValueAgain = 0,    // as for addresses; the same kind of literal, too
  kValueImage,        // what lay there the last time
  kValueLast,         // the site's last one
  kValueStride,       // and its last step
  kValueImageStep,    // what lay there, and the site's last change to such
  kValuePrevious,     // that of the access before
  kValueEarlier,      // and before that one
  kValueFromAddress,  // the address of the access before, and the site's last distance to it
  kValue1,            // literals of so many bytes, zero-extended
  kValue2,
  kValue4,
  kValueLow4,  // 4 bytes, under the upper half of the site's last one
  kValue8,
  kValueCodes,
};

inline constexpr uint8_t kLiteralBytes[kValueCodes] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 4, 8};

// A code byte is (second * kAddressCodes + address) * kValueCodes + value, where `second` says
// which of the two sites that are expected it is. Before it, where it is neither: kSiteLiteral.
inline constexpr unsigned kPairs = unsigned(kAddressCodes) * kValueCodes;
inline constexpr uint8_t kSiteLiteral = 2 * kPairs;
static_assert(2 * kPairs < 256);

// In the stream, each code but 0 follows the number of zeros before it; this many: more follow.
inline constexpr unsigned kFullRun = 255;

enum Stream { kCodeStream, kSiteStream, kAddressStream, kValueStream, kStreams };

// The most bytes that one event puts into each stream.
inline constexpr size_t kMostBytes[kStreams] = {4, 10, 10, 8};

struct StreamHead {
  uint32_t bytes;   // of the stream
  uint32_t packed;  // of the zstd frame, which follows; equal to `bytes`: the stream itself
};

// Then the streams, one behind the other.
struct BlockHead {
  uint32_t events;
  StreamHead streams[kStreams];
};
static_assert(sizeof(BlockHead) == 36);

}  // namespace halo::trace::file
