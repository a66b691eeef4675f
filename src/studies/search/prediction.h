// The misses that a program would have under a candidate plan.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simulator/machine.h"
#include "studies/layouts/replay.h"
#include "studies/search/candidate.h"
#include "studies/search/stored_trace.h"

namespace halo::predict {

struct Prediction {
  layout::Misses misses;  // of the accesses that are kept
  uint64_t grouped;       // objects that groups served, whichever accesses are kept
  uint64_t mixed;         // those of groups with mixed-size pages
  uint64_t peak_bytes;    // of the groups' pages
};

// Runs the trace's allocations and frees through the runtime's heaps, and its accesses through the
// simulator. Once in a process (placement.h). Empty if memory for the heaps is refused. If
// `addresses` is given, it gets the address of each object by its allocation number, with arena
// addresses as Placement has them.
std::optional<Prediction> predict(const StoredTrace& trace, const simulator::Machine& machine,
                                  const Candidate& candidate,
                                  std::vector<uint64_t>* addresses = nullptr);

}  // namespace halo::predict
