// The event as the logging library buffers it, and as the trace reader delivers it.
#pragma once

#include <cstdint>

namespace halo::trace {

// `site` is the address of a Site in the running program, or the number of a site in a trace. Below
// kMarkers it is an event without a place in the source.
struct Logged {
  uint64_t site;
  uint64_t word1;
  uint64_t word2;
};
static_assert(sizeof(Logged) == 24);

inline constexpr uint64_t kMarkers = 16;

enum class Marker : uint64_t {
  kEpoch = 1,      // word1: merge key, see epoch_merge.h; applies to the following events
  kAlloc = 2,      // by the allocator itself, for any caller. word1: address, word2: bytes
  kAllocFrom = 3,  // follows each kAlloc. word1: slot of the call's return address, word2: that
                   // address
  kFrame = 4,      // before a kAlloc: a frame of uninstrumented code, outermost first; word1: slot
                   // of its return address, word2: the return address
  kFree = 5,       // word1: address; before the memory is freed
  kRevive = 6,     // word1: address; cancels the thread's last free
  kCount = 7,      // follows each allocation site's event. word1: number of elements
  kThreadEnd = 8,  // last event of a thread; its number may be reused
  kLost = 9,       // word1: number of this thread's events that are missing here
};

}  // namespace halo::trace
