// Confines groups by the colours of their page frames: fills their rings, changes the frames of
// spans that turn out to pollute while they live (NightWatch, section 5.1: mapping switch), and
// corrects frames that the kernel has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/extra/spans/span_watcher.h"
#include "studies/pollution/page_frames/board.h"
#include "studies/pollution/page_frames/broker.h"

namespace halo::watching {

struct ConfinerReport {
  frames::Refusal refusal = frames::Refusal::kNone;  // the first one
  uint64_t filled = 0;                               // pages of rings
  uint64_t replaced = 0;                             // pages of spans
  uint64_t failed = 0;                               // pages that stay open
  uint64_t switched = 0;                             // spans
  uint64_t corrected = 0;                            // confined pages that had other frames
  uint64_t populated = 0;                            // pages, to find frames
};

// One job after the other, in parts of some milliseconds. All functions belong to the thread of the
// watch.
class Confiner {
 public:
  // `colours` must be valid.
  Confiner(const frames::ColourRange& colours, const HaloSpanControl& control, traps::Traps& traps)
      : colours_(colours), control_(control), broker_(colours, traps), rings_(control.groups) {}

  // Called once, after the traps were opened.
  void open();
  void close();

  // Does a part of the current job, or begins the next one.
  void work(uint64_t now_ns);
  bool is_busy() const { return kind_ != Kind::kNone; }

  // Gives whole pages of a span that is not in a ring frames of the colours. Returns false if there
  // is another job. If frames are missing, the span stays as it is.
  bool switch_span(uintptr_t begin, uintptr_t end);
  // The span that begins there, which was to be switched, is freed.
  void forget_span(uintptr_t begin);
  bool is_in_ring(uint32_t group, uintptr_t address) const;

  ConfinerReport report() const;

 private:
  static constexpr uint64_t kMinPauseNs = 1'000'000'000, kMaxPauseNs = 64'000'000'000;
  static constexpr uint64_t kAuditNs = 5'000'000'000;
  static constexpr uint64_t kAuditPauseNs = 20'000'000'000;
  static constexpr size_t kMaxFill = size_t{64} << 20;  // bytes at once

  enum class Kind { kNone, kFill, kSupply, kSwitch, kAudit };

  void begin(Kind kind, uintptr_t begin, uintptr_t end);
  void find_rings();
  void begin_fill();
  void begin_audit(uint64_t now_ns);
  void finish(uint64_t now_ns);
  void supply();

  frames::ColourRange colours_;
  const HaloSpanControl& control_;
  frames::Broker broker_;
  frames::Board board_;
  std::vector<HaloRingPart> rings_;  // of each group; 0 bytes: not known yet
  bool is_open_ = false;

  Kind kind_ = Kind::kNone;  // of the current job
  frames::Broker::Job job_;
  uintptr_t begin_ = 0;  // of its range
  uint32_t group_ = 0;   // of a part of a ring

  uint64_t not_before_ns_ = 0;  // frames had run out
  uint64_t pause_ns_ = kMinPauseNs;
  uint64_t no_search_before_ns_ = 0;                       // of audits: frames had run out
  uint64_t audited_ns_ = 0;                                // when the last audit began
  size_t audit_place_ = frames::BoardContent::kMaxRanges;  // on the board, of the next range
  ConfinerReport report_;
};

}  // namespace halo::watching
