// Confines groups by the colours of their page frames: fills their rings, and changes the frames of
// spans that turn out to pollute while they live (NightWatch, section 5.1: mapping switch).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "frames/board.h"
#include "frames/broker.h"
#include "runtime/spans/span_watcher.h"

namespace halo::watching {

struct ConfinerReport {
  frames::Refusal refusal = frames::Refusal::kNone;  // the first one
  uint64_t filled = 0;                               // pages of rings
  uint64_t replaced = 0;                             // pages of spans
  uint64_t failed = 0;                               // pages that stay open
  uint64_t switched = 0;                             // spans
  uint64_t populated = 0;                            // pages, to find frames
};

// All functions belong to the thread of the watch.
class Confiner {
 public:
  // `colours` must be valid.
  Confiner(const frames::ColourRange& colours, const HaloSpanControl& control, traps::Traps& traps)
      : colours_(colours), control_(control), broker_(colours, traps), rings_(control.groups) {}

  // Called once, after the traps were opened.
  void open();
  void close();

  // Fills what a ring needs. May take some 100 ms.
  void fill_rings(uint64_t now_ns);

  // Whole pages of a span that is not in a ring. Returns whether all have frames of the colours.
  bool switch_span(uintptr_t begin, uintptr_t end);
  // The span that begins there is freed, so its pages are not confined any more.
  void forget_span(uintptr_t begin) { board_.remove(begin); }
  bool is_in_ring(uint32_t group, uintptr_t address) const;

  ConfinerReport report() const;

 private:
  static constexpr uint64_t kMinPauseNs = 1'000'000'000, kMaxPauseNs = 64'000'000'000;
  static constexpr size_t kMaxFill = size_t{64} << 20;  // bytes at once

  void find_ring(uint32_t group);
  void count(const frames::Coloured& coloured, uint64_t now_ns);

  frames::ColourRange colours_;
  const HaloSpanControl& control_;
  frames::Broker broker_;
  frames::Board board_;
  std::vector<HaloRingPart> rings_;  // of each group; 0 bytes: not known yet
  bool is_open_ = false;
  uint64_t not_before_ns_ = 0;  // frames had run out
  uint64_t pause_ns_ = kMinPauseNs;
  ConfinerReport report_;
};

}  // namespace halo::watching
