// Gives ranges of addresses page frames of some colours (NightWatch, section 4: restrictive
// mapping; section 3.2: remapping), without a changed kernel.
//
// It moves pages by userfaultfd. So threads that access a page meanwhile wait, also in system
// calls, and find the content. Needs CAP_SYS_ADMIN, and what traps need.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "studies/pollution/page_frames/colour_range.h"
#include "studies/pollution/page_frames/frame_numbers.h"
#include "studies/pollution/page_frames/frame_stock.h"
#include "studies/pollution/traps/traps.h"

namespace halo::frames {

// Whether the kernel shows frames to this process.
Refusal probe_frames();

// What became of the pages of a range.
struct Coloured {
  size_t filled = 0;    // were absent
  size_t replaced = 0;  // had a frame of another colour
  size_t kept = 0;      // had a frame of the colours
  size_t failed = 0;    // have none: the kernel refused to move them, or frames were missing
  Refusal refusal = Refusal::kNone;  // why frames were missing
};

// All functions belong to the server of the traps.
class Broker {
 public:
  // `colours` must be valid.
  Broker(const ColourRange& colours, traps::Traps& traps)
      : colours_(colours), traps_(traps), stock_(colours, traps) {}

  // Called once, after the traps were opened, before the other functions.
  Refusal open();
  void close();

  // A range that is being given frames of the colours.
  struct Job {
    uintptr_t at = 0, end = 0;  // the rest
    bool fills = false;         // absent pages; filled ones are zero. Otherwise they stay absent
    bool searches = true;       // for frames, if none are ready
    uintptr_t failed_at = 0;    // where the first page is that has none; 0: there is none
    Coloured result{};
  };

  // Does a part of the job, which takes some milliseconds. Armed pages are disarmed. Returns
  // whether the job is done.
  bool step(Job& job);
  // The job in the midst of which the broker is will not go on.
  void cancel() { stock_.stop_search(); }
  // All parts at once.
  Coloured colour(uintptr_t begin, uintptr_t end, bool fills);

  // Has frames ready for that many pages, at most FrameStock::kCapacity.
  Refusal prepare(size_t pages);
  // Frames that are ready.
  size_t ready() const { return stock_.count(); }
  uint64_t populated() const { return stock_.populated(); }

 private:
  static constexpr size_t kBatch = 256;  // pages, whose threads wait at once
  static constexpr size_t kSpare = 64;   // frames that are found beyond those that are needed

  enum class Kind { kAbsent, kOther, kRight };
  Kind kind_of(uint64_t frame) const;
  size_t count_right(size_t count) const;
  size_t pages_to_change(uintptr_t page, size_t count, bool fills);
  static void fail(Job& job, uintptr_t page, size_t count);
  static void give_up(Job& job, Refusal refusal);
  size_t colour_batch(Job& job, size_t count);
  size_t replace(uintptr_t page, size_t count);

  ColourRange colours_;
  traps::Traps& traps_;
  FrameStock stock_;
  FrameNumbers numbers_;
  uintptr_t staging_ = 0;
  std::array<uint64_t, kBatch> frames_{};
};

}  // namespace halo::frames
