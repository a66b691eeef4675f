// Which pages of a process are confined, for `halo study colours --audit`: a mapping of a memory
// file with a name of its own, which other processes find in /proc/PID/maps and read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "studies/pollution/page_frames/colour_range.h"

namespace halo::frames {

inline constexpr const char* kBoardName = "halo-colours";  // of the memory file

// The content; numbers are little-endian. The reader is halo/studies/pollution/colours/board.py.
struct BoardContent {
  static constexpr uint32_t kMagic = 0x31434248;  // "HBC1"
  static constexpr size_t kMaxRanges = 510;

  struct Range {
    uint64_t begin, end;  // addresses; 0: none
  };

  uint32_t magic;
  uint32_t process;  // a child has no board, but may have one from a clone of its memory
  uint32_t low, high, total;
  uint32_t ranges;
  uint64_t reserved;
  std::array<Range, kMaxRanges> range;
};
static_assert(sizeof(BoardContent) <= 8192);

class Board {
 public:
  // Returns false if the kernel refuses.
  bool open(const ColourRange& colours);
  void close();

  // Returns false if there is no room.
  bool add(uintptr_t begin, uintptr_t end);
  // The range in that place, of kMaxRanges.
  BoardContent::Range range(size_t place) const {
    return content_ == nullptr ? BoardContent::Range{} : content_->range[place];
  }
  // The range that begins there, if there is one.
  void remove(uintptr_t begin);

 private:
  BoardContent* content_ = nullptr;
};

}  // namespace halo::frames
