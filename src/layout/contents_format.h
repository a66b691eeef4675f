// The contents file: the contents of a trace's objects soon after their allocation
// (docs/layouts.md).
//
// A file has a ContentsHead, then a ContentsRow for each object with contents, in the order in
// which the recorder read them.
#pragma once

#include <cstdint>

namespace halo::layout {

inline constexpr char kContentsMagic[8] = {'h', 'a', 'l', 'o', '-', 'c', 'o', 'n'};
inline constexpr uint32_t kContentsVersion = 1;
inline constexpr uint32_t kContentsWords = 16;

struct ContentsHead {
  char magic[8];
  uint32_t version;
  uint32_t check;  // zlib's CRC-32 of all rows, followed by their number as in `rows`
  uint64_t rows;
};
static_assert(sizeof(ContentsHead) == 24);

struct ContentsRow {
  uint64_t number;   // of the allocation
  uint64_t address;  // as recorded
  uint32_t size;     // bytes
  uint32_t context;  // of the allocation
  uint32_t count;    // of words
  uint32_t unused;
  uint64_t words[kContentsWords];  // zero behind the count, and behind the object's last byte
};
static_assert(sizeof(ContentsRow) == 160);

}  // namespace halo::layout
