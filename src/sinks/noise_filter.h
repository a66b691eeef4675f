// HALO's noise filter: the contexts that together make up most accesses, and the edges among them.
#pragma once

#include "sinks/affinity_sink.h"

namespace halo::sinks {

// Takes nodes from most to least accessed until `share` of all accesses is accounted for, and drops
// the rest (equal counts: the lower context id first). The others' access counts become 0.
AffinityGraph keep_hot_contexts(const AffinityGraph& graph, double share = 0.9);

}  // namespace halo::sinks
