#include "watching/confiner.h"

#include <sys/mman.h>

#include <algorithm>

#include "traps/user_faults.h"

namespace halo::watching {

using frames::Coloured;
using frames::Refusal;

void Confiner::open() {
  report_.refusal = broker_.open();
  is_open_ = report_.refusal == Refusal::kNone && board_.open(colours_);
  if (!is_open_ && report_.refusal == Refusal::kNone) report_.refusal = Refusal::kNoMemory;
}

// The board stays: its pages remain confined until the process ends.
void Confiner::close() { broker_.close(); }

void Confiner::fill_rings(uint64_t now_ns) {
  if (!is_open_ || now_ns < not_before_ns_) return;
  for (uint32_t group = 0; group < control_.groups; ++group) {
    if (control_.group(group).ring == 0) continue;
    if (rings_[group].bytes == 0) find_ring(group);
    if (rings_[group].bytes == 0) continue;
    const HaloRingPart part = control_.take_empty(group, kMaxFill);
    if (part.bytes == 0) continue;
    const Coloured coloured = broker_.colour(part.begin, part.begin + part.bytes, true);
    const bool filled = coloured.failed == 0;
    if (!filled) traps::advise(part.begin, part.bytes, MADV_DONTNEED);
    while (control_.supply(group, part.begin, filled ? 1 : 0) == 0) traps::pause_thread(100'000);
    report_.filled += filled ? coloured.filled : 0;
    report_.failed += coloured.failed;
    count(coloured, now_ns);
    if (!filled) return;
  }
}

// Groups may share a ring.
void Confiner::find_ring(uint32_t group) {
  const HaloRingPart ring = control_.ring(group);
  if (ring.bytes == 0) return;
  const bool known = std::any_of(rings_.begin(), rings_.end(), [&](const HaloRingPart& other) {
    return other.bytes != 0 && other.begin == ring.begin;
  });
  rings_[group] = ring;
  if (known) return;
  traps::advise(ring.begin, ring.bytes, MADV_NOHUGEPAGE);
  board_.add(ring.begin, ring.begin + ring.bytes);
}

bool Confiner::switch_span(uintptr_t begin, uintptr_t end) {
  if (!is_open_ || !board_.add(begin, end)) return false;
  const Coloured coloured = broker_.colour(begin, end, false);
  report_.replaced += coloured.replaced;
  report_.failed += coloured.failed;
  if (report_.refusal == Refusal::kNone) report_.refusal = coloured.refusal;
  if (coloured.failed != 0) board_.remove(begin);
  report_.switched += coloured.failed == 0 ? 1 : 0;
  return coloured.failed == 0;
}

bool Confiner::is_in_ring(uint32_t group, uintptr_t address) const {
  return address - rings_[group].begin < rings_[group].bytes;
}

// Frames come back when other memory is freed.
void Confiner::count(const Coloured& coloured, uint64_t now_ns) {
  if (report_.refusal == Refusal::kNone) report_.refusal = coloured.refusal;
  if (coloured.failed == 0) {
    pause_ns_ = kMinPauseNs;
    return;
  }
  not_before_ns_ = now_ns + pause_ns_;
  pause_ns_ = std::min(2 * pause_ns_, kMaxPauseNs);
}

ConfinerReport Confiner::report() const {
  ConfinerReport report = report_;
  report.populated = broker_.populated();
  return report;
}

}  // namespace halo::watching
