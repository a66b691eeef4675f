// The part of a trace that counts.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "objects/allocation.h"

namespace halo::layout {

// Accesses, counted from 0 without repeats; at first all of them.
struct PhaseSpan {
  uint64_t first = 0;
  uint64_t last = UINT64_MAX;

  bool contains(uint64_t access) const { return access - first <= last - first; }
};

// Visits a trace, and keeps the phase that was recorded, if any.
class PhaseFinder {
 public:
  void allocate(const objects::Allocation&) {}
  void define(const objects::Allocation&) {}
  void free(uint64_t) {}
  void revive(uint64_t) {}
  void huge_pages(uint64_t, uint64_t) {}
  void access(base::ThreadId, uint64_t, uint32_t, uint32_t, bool) {}
  void access_outside(base::ThreadId, uint64_t, uint32_t, bool) {}
  void repeat(base::ThreadId, uint64_t) {}
  void phase(uint64_t first, uint64_t last) { found_ = {first, last}; }

  const std::optional<PhaseSpan>& found() const { return found_; }

 private:
  std::optional<PhaseSpan> found_;
};

}  // namespace halo::layout
