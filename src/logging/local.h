// What the hook in assembly (hook.cc) and the C++ behind it share: a thread's cursor, the epoch,
// and the arithmetic of segments.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trace/logged.h"

namespace halo::logging {

using trace::Logged;

inline constexpr uint64_t kSegmentBytes = 1 << 20;
inline constexpr uint64_t kSegmentMask = kSegmentBytes - 1;
// Records fill a segment up to its last byte. What is in front of them is never written: a cursor
// that points there, or at 0, is one that has run past its segment, or has none.
inline constexpr uint64_t kRecordsBegin = 4096;
inline constexpr uint64_t kRecords = (kSegmentBytes - kRecordsBegin) / sizeof(Logged);
static_assert(kRecordsBegin + kRecords * sizeof(Logged) == kSegmentBytes);

constexpr bool has_place(uint64_t cursor) { return (cursor & kSegmentMask) >= kRecordsBegin; }
// Records between a place and the end of its segment.
constexpr uint64_t room_behind(uint64_t place) {
  return (kSegmentBytes - (place & kSegmentMask)) / sizeof(Logged);
}

// Fills the end of a segment that a group of records has no room in; never leaves the rings.
inline constexpr uint64_t kPadding = trace::kMarkers - 1;

struct Ring;

enum class ThreadState : uint32_t {
  kRunning = 0,
  kEnded = 1,  // its ring is gone; what it still logs goes to the stragglers' one
  kOurs = 2,   // the consumer, where the program has functions that libc calls: nothing is logged
};

// All zero is how a thread begins.
struct Local {
  uint64_t cursor;      // first place that is not taken
  uint64_t seen_epoch;  // that the thread's records say they belong to
  Ring* ring;
  ThreadState state;
  uint32_t own_work;  // not 0: our own code runs, what it allocates is not the program's
};
static_assert(offsetof(Local, cursor) == 0 && offsetof(Local, seen_epoch) == 8);

}  // namespace halo::logging

extern "C" {
// 0 while nothing is logged; else as epoch_merge.h says.
extern __attribute__((visibility("hidden"))) std::atomic<uint64_t> halo_log_epoch;
// Initial-exec: an access is one instruction and never allocates.
extern __attribute__((visibility("hidden"),
                      tls_model("initial-exec"))) __thread halo::logging::Local halo_log_local;
// What xsave is told to save, and the bytes it takes; mask 0: there is only fxsave.
extern __attribute__((visibility("hidden"))) uint32_t halo_log_state_mask;
extern __attribute__((visibility("hidden"))) uint64_t halo_log_state_bytes;
}
