#include "studies/pollution/live/confiner.h"

#include <sys/mman.h>

#include <algorithm>

#include "studies/pollution/traps/user_faults.h"

namespace halo::watching {

using frames::BoardContent;
using frames::Refusal;

void Confiner::open() {
  report_.refusal = broker_.open();
  is_open_ = report_.refusal == Refusal::kNone && board_.open(colours_);
  if (!is_open_ && report_.refusal == Refusal::kNone) report_.refusal = Refusal::kNoMemory;
}

// The board stays: its pages remain confined until the process ends.
void Confiner::close() { broker_.close(); }

void Confiner::work(uint64_t now_ns) {
  if (!is_open_) return;
  if (kind_ == Kind::kNone) {
    find_rings();
    begin_audit(now_ns);
    if (kind_ == Kind::kNone && now_ns >= not_before_ns_) begin_fill();
  }
  if (kind_ == Kind::kSupply)
    supply();
  else if (kind_ != Kind::kNone && broker_.step(job_))
    finish(now_ns);
}

void Confiner::begin(Kind kind, uintptr_t begin, uintptr_t end) {
  kind_ = kind;
  begin_ = begin;
  job_ = {.at = begin, .end = end, .fills = kind == Kind::kFill};
}

// Groups may share a ring.
void Confiner::find_rings() {
  for (uint32_t group = 0; group < control_.groups; ++group) {
    if (rings_[group].bytes != 0) continue;
    const HaloRingPart ring = control_.ring(group);
    if (ring.bytes == 0) continue;
    const bool known = std::any_of(rings_.begin(), rings_.end(), [&](const HaloRingPart& other) {
      return other.bytes != 0 && other.begin == ring.begin;
    });
    rings_[group] = ring;
    if (known) continue;
    traps::advise(ring.begin, ring.bytes, MADV_NOHUGEPAGE);
    board_.add(ring.begin, ring.begin + ring.bytes);
  }
}

void Confiner::begin_fill() {
  for (uint32_t group = 0; group < control_.groups; ++group) {
    if (rings_[group].bytes == 0) continue;
    const HaloRingPart part = control_.take_empty(group, kMaxFill);
    if (part.bytes == 0) continue;
    group_ = group;
    return begin(Kind::kFill, part.begin, part.begin + part.bytes);
  }
}

// All confined ranges, one after the other.
void Confiner::begin_audit(uint64_t now_ns) {
  if (audit_place_ == BoardContent::kMaxRanges) {
    if (now_ns - audited_ns_ < kAuditNs) return;
    audited_ns_ = now_ns;
    audit_place_ = 0;
  }
  while (audit_place_ < BoardContent::kMaxRanges) {
    const BoardContent::Range range = board_.range(audit_place_++);
    if (range.begin == 0) continue;
    begin(Kind::kAudit, range.begin, range.end);
    job_.searches = now_ns >= no_search_before_ns_;
    return;
  }
}

// Frames come back when other memory is freed, so it is tried again, but ever less often. A page
// that the kernel would not move, as it was in use just then, is left to the audits.
void Confiner::finish(uint64_t now_ns) {
  const frames::Coloured& coloured = job_.result;
  if (report_.refusal == Refusal::kNone) report_.refusal = coloured.refusal;
  if (kind_ == Kind::kSwitch) {
    report_.replaced += coloured.replaced;
    if (coloured.refusal == Refusal::kNone && board_.add(begin_, job_.end)) ++report_.switched;
  } else if (kind_ == Kind::kAudit) {
    report_.corrected += coloured.replaced;
  }
  const Kind kind = kind_;
  if (kind != Kind::kAudit) report_.failed += coloured.failed;
  kind_ = kind == Kind::kFill ? Kind::kSupply : Kind::kNone;
  if (coloured.refusal == Refusal::kNone || !job_.searches) return;
  if (kind == Kind::kAudit) {
    no_search_before_ns_ = now_ns + kAuditPauseNs;
    return;
  }
  not_before_ns_ = now_ns + pause_ns_;
  pause_ns_ = std::min(2 * pause_ns_, kMaxPauseNs);
}

// As far as there were frames. The lock of the spans may be held by a thread that waits for this
// one, so it is tried again in the next pass.
void Confiner::supply() {
  const size_t bytes = (job_.failed_at == 0 ? job_.end : job_.failed_at) - begin_;
  if (control_.supply(group_, begin_, bytes) == 0) return;
  report_.filled += bytes / frames::kPageBytes;
  kind_ = Kind::kNone;
}

bool Confiner::switch_span(uintptr_t begin_at, uintptr_t end) {
  if (!is_open_ || is_busy()) return false;
  begin(Kind::kSwitch, begin_at, end);
  return true;
}

void Confiner::forget_span(uintptr_t begin) {
  board_.remove(begin);
  if ((kind_ != Kind::kSwitch && kind_ != Kind::kAudit) || begin_ != begin) return;
  broker_.cancel();
  kind_ = Kind::kNone;
}

bool Confiner::is_in_ring(uint32_t group, uintptr_t address) const {
  return address - rings_[group].begin < rings_[group].bytes;
}

ConfinerReport Confiner::report() const {
  ConfinerReport report = report_;
  report.populated = broker_.populated();
  return report;
}

}  // namespace halo::watching
