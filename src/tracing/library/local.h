// The state shared by the hook in assembly (hook.cc) and the C++ behind it: a thread's cursor, the
// epoch, and the arithmetic of segments.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracing/format/logged.h"

namespace halo::logging {

using trace::Logged;

inline constexpr uint64_t kSegmentBytes = 1 << 20;
inline constexpr uint64_t kSegmentMask = kSegmentBytes - 1;
// Records fill a segment to its last byte; the bytes before the first record are never written by
// the hook. A cursor there, or 0, has run past its segment or has none.
inline constexpr uint64_t kRecordsBegin = 4096;
inline constexpr uint64_t kRecords = (kSegmentBytes - kRecordsBegin) / sizeof(Logged);
static_assert(kRecordsBegin + kRecords * sizeof(Logged) == kSegmentBytes);

constexpr bool has_place(uint64_t cursor) { return (cursor & kSegmentMask) >= kRecordsBegin; }
// Number of records between a place and the end of its segment.
constexpr uint64_t room_behind(uint64_t place) {
  return (kSegmentBytes - (place & kSegmentMask)) / sizeof(Logged);
}

// Fills the end of a segment that is too short for a group of records; never reaches the trace.
inline constexpr uint64_t kPadding = trace::kMarkers - 1;

struct Ring;

enum class ThreadState : uint32_t {
  kRunning = 0,
  kEnded = 1,  // its ring is released; later events go to the stragglers' ring
  kOurs = 2,   // the consumer, which may call functions of the program: nothing is logged
};

// A thread's state, zeroed at its start.
//
// Only the thread and its signal handlers access it. They reserve places with one xadd on `cursor`,
// which is atomic with respect to signals; that instruction needs no lock prefix. `ring` and
// `cursor` change otherwise only with signals blocked.
struct Local {
  uint64_t cursor;      // first free place
  uint64_t seen_epoch;  // the epoch of the thread's last marker
  Ring* ring;
  ThreadState state;
  uint32_t reentrancy;  // not 0: the library's own code runs; its allocations are not the program's
};
static_assert(offsetof(Local, cursor) == 0 && offsetof(Local, seen_epoch) == 8);

}  // namespace halo::logging

extern "C" {
// 0 while logging is off; else the epoch of epoch_merge.h. Threads load it relaxed: an event that
// follows another one by the program's own synchronisation also sees at least its epoch.
extern __attribute__((visibility("hidden"))) std::atomic<uint64_t> halo_log_epoch;
// Initial-exec: an access is one instruction and never allocates.
extern __attribute__((visibility("hidden"),
                      tls_model("initial-exec"))) __thread halo::logging::Local halo_log_local;
// The mask for xsave, and the size of its area; mask 0: only fxsave is available.
extern __attribute__((visibility("hidden"))) uint32_t halo_log_state_mask;
extern __attribute__((visibility("hidden"))) uint64_t halo_log_state_bytes;
}
