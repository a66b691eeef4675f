// The event as the logging runtime buffers it, and as the trace's reader hands it out.
#pragma once

#include <cstdint>

namespace halo::trace {

// `site` is the address of a Site in the running program, the number of a site in a trace, or,
// below kMarkers, one of the events that are tied to no place in the source.
struct Logged {
  uint64_t site;
  uint64_t word1;
  uint64_t word2;
};
static_assert(sizeof(Logged) == 24);

inline constexpr uint64_t kMarkers = 16;

enum class Marker : uint64_t {
  kEpoch = 1,      // word1: merge key, see epoch_merge.h; what follows belongs to that epoch
  kAlloc = 2,      // by the allocator itself, whoever called it. word1: address, word2: bytes
  kAllocFrom = 3,  // follows each kAlloc. word1: slot of the return address of the call, word2: it
  kFrame = 4,      // before a kAlloc: a frame of code that is not instrumented, outermost first;
                   // word1: slot of its return address, word2: the return address
  kFree = 5,       // word1: address; before the memory is given back
  kRevive = 6,     // word1: address; the object freed last by this thread lives on
  kCount = 7,      // follows each allocation site's event. word1: elements
  kThreadEnd = 8,  // last event of a thread; its number may be used again
  kLost = 9,       // word1: so many events of this thread are missing here
};

}  // namespace halo::trace
