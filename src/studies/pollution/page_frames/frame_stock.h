// Fresh page frames of some colours, in the order of use (NightWatch, section 4: free lists by
// colour).
//
// A page's frame cannot be asked for. So pages are populated in scratch memory, and those whose
// frames have the colours are moved to the stock. The others are held meanwhile, as the kernel
// would give them again, and then returned. Needs CAP_SYS_ADMIN. Nothing is allocated but mappings.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "studies/pollution/page_frames/colour_range.h"
#include "studies/pollution/page_frames/frame_numbers.h"
#include "studies/pollution/traps/traps.h"

namespace halo::frames {

// Why a broker has no frames.
enum class Refusal : uint8_t {
  kNone,
  kNotColours,  // the range of colours is not valid
  kHidden,      // the kernel hides frames
  kNoTraps,     // userfaultfd is refused
  kNoMemory,    // the kernel refuses memory
  kExhausted,   // no scratch memory had frames of the colours any more
};
// One sentence without a full stop; empty for kNone.
const char* text_of(Refusal refusal);

class FrameStock {
 public:
  static constexpr size_t kCapacity = 2048;       // pages
  static constexpr size_t kMaxScratch = 3;        // ranges at once
  static constexpr size_t kScratchPages = 16384;  // of a range at most, which is 64 MiB
  static constexpr size_t kBlockPages = 512;      // that are populated and read at once

  // `colours` must be valid. All functions belong to the server of `traps`.
  FrameStock(const ColourRange& colours, traps::Traps& traps) : colours_(colours), traps_(traps) {}
  FrameStock(const FrameStock&) = delete;
  FrameStock& operator=(const FrameStock&) = delete;

  // Maps the tables. Called once, after the traps were opened.
  Refusal open();
  // Returns all memory.
  void close();

  // Pages of the stock, which are consecutive, and the first of them. Their content is zero. Their
  // colours take turns, as far as there are frames of each.
  size_t count() const { return end_ - begin_; }
  uintptr_t first() const { return at_ + begin_ * kPageBytes; }
  // The first `count` pages were moved away.
  void taken(size_t count);

  // Begins to gather `wanted` pages, at most kCapacity, in place of what there is.
  Refusal begin_search(size_t wanted);
  bool is_searching() const { return search_.is_active; }
  // A part of the search, which takes some milliseconds. Nothing: it goes on. Otherwise it has
  // ended; there may be fewer pages than wanted, and the result says why.
  std::optional<Refusal> search_step();
  // Returns what is being searched.
  void stop_search();

  uint64_t populated() const { return populated_; }  // pages in scratch memory so far

 private:
  static constexpr uint32_t kNoPage = UINT32_MAX;
  static constexpr size_t kStepBlocks = 4;

  struct Tables {
    std::array<uint32_t, kMaxScratch * kScratchPages> next;  // page of the same colour
    std::array<uint32_t, ColourRange::kMaxTotal> first;      // page of each colour
    std::array<uint64_t, kBlockPages> frames;
  };

  struct Search {
    bool is_active = false;
    size_t wanted = 0;
    size_t ranges = 0;            // mapped ones
    size_t pages = 0, block = 0;  // of the last one: all, and those that are populated
    std::array<size_t, kMaxScratch> bytes{};
  };

  size_t scratch_pages(size_t wanted) const;
  bool map_scratch();
  Refusal populate_block();
  Refusal end_search(Refusal refusal);
  uintptr_t address_of(uint32_t page) const {
    return scratch_[page / kScratchPages] + page % kScratchPages * kPageBytes;
  }
  void take_sorted();

  ColourRange colours_;
  traps::Traps& traps_;
  FrameNumbers numbers_;
  Tables* tables_ = nullptr;
  uintptr_t at_ = 0;
  size_t begin_ = 0, end_ = 0;
  uint32_t turn_ = 0;  // the next page's colour, from the first one on
  std::array<uintptr_t, kMaxScratch> scratch_{};
  Search search_;
  uint64_t populated_ = 0;
};

}  // namespace halo::frames
