// Ages the cells of a variant that places its objects by hints.
#pragma once

#include <halo/tidy.h>

namespace variant {

// Litters the context (docs/littering.md) if the environment names two files:
// HALO_BENCH_LITTER_DATA, the sizes of objects in the detector's format, and
// HALO_BENCH_LITTER_HINTS, a log of hints (tidy_log.cc). Each object has the hint of a random
// logged object of its size; if not `uses_hints`, none has. HALO_LITTER_OCCUPANCY, _MULTIPLIER and
// _SEED are as for the litterer; all must be set. Without memory of malloc, whose heap stays as it
// is. A failure ends the program with a sentence on stderr and status 3.
void age_cells(tidy_ctx_t* context, unsigned dimensions, bool uses_hints);

}  // namespace variant
