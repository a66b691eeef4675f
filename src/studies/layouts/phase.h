// The part of a trace that counts.
#pragma once

#include <cstdint>
#include <optional>

#include "recorder/objects/visitor.h"

namespace halo::layout {

// Accesses, counted from 0 without repeats; at first all of them.
struct PhaseSpan {
  uint64_t first = 0;
  uint64_t last = UINT64_MAX;

  // No access.
  static PhaseSpan none() { return {UINT64_MAX, UINT64_MAX}; }

  bool contains(uint64_t access) const { return access - first <= last - first; }
};

// Visits a trace, and keeps the phase that was recorded, if any.
class PhaseFinder : public objects::Visitor {
 public:
  void phase(uint64_t first, uint64_t last) { found_ = {first, last}; }

  const std::optional<PhaseSpan>& found() const { return found_; }

 private:
  std::optional<PhaseSpan> found_;
};

}  // namespace halo::layout
