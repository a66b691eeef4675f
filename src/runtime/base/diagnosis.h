// Hooks that the heap calls for checks and statistics; they are empty in the normal build.
#pragma once

#include "runtime/base/exported.h"

namespace halo::runtime {

// Whether HALO_STATS requests statistics. Set before any group is opened.
HALO_HIDDEN extern constinit bool keeping_stats;

#ifdef HALO_CHECK
inline constexpr bool kCheckingBuild = true;
// The heap serves the block `p` to the program. Ignores nullptr. Returns `p`.
void* track_alloc(void* p);
// The program frees `p`, an address in the arena. If `p` is not a used block, the hook prints the
// pointer and the group on stderr and returns false; the caller must then ignore the free.
bool track_free(const void* p);
// The program has overwritten the first word of the free block `p`.
void report_overwritten(const void* p);
#else
inline constexpr bool kCheckingBuild = false;
inline void* track_alloc(void* p) { return p; }
inline bool track_free(const void*) { return true; }
inline void report_overwritten(const void*) {}
#endif

}  // namespace halo::runtime
