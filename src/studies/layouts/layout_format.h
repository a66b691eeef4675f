// The layout file: the hierarchical memory layout of a trace's objects (docs/layouts.md).
//
// A file has a LayoutHead, then columns with an entry for each accessed object, in the order of the
// layout `hml-ordered`. The first column has allocation numbers, as uint32_t. The others have the
// communities of each level as uint32_t, the finest level first.
#pragma once

#include <cstdint>

namespace halo::layout {

inline constexpr char kLayoutMagic[8] = {'h', 'a', 'l', 'o', '-', 'l', 'a', 'y'};
inline constexpr uint32_t kLayoutVersion = 1;

struct LayoutHead {
  char magic[8];
  uint32_t version;
  uint32_t levels;
  uint32_t objects;
  uint32_t check;  // zlib's CRC-32 of all columns; its start value is the CRC-32 of the two counts
};
static_assert(sizeof(LayoutHead) == 24);

}  // namespace halo::layout
