// The slow path of the hook: enters events into a thread's ring.
#pragma once

#include <cstdint>
#include <span>

#include "tracing/library/local.h"

namespace halo::logging {

// A handler that interrupts this code or the hook may log: its records go behind the place that the
// interrupted code has reserved. Only taking a ring or a segment needs blocked signals.

// Must precede the first event.
void detect_processor_state();

// Logs an event of instrumented code.
void log(const Logged& event);

// Logs events that start an epoch of their own. The first record is a kEpoch marker whose word1 is
// set here. The records are adjacent in the trace; at most kMaxTogether.
inline constexpr uint32_t kMaxTogether = 72;
void log_own_epoch(std::span<Logged> records);

// Returns the next epoch; 0 if logging is off.
uint64_t advance_epoch();

// The thread ends: its ring may be reused once it is consumed. Later events of the thread go to the
// stragglers' ring.
void end_thread();

// Called in a forked child: this thread has no ring, and the stragglers' records are the parent's.
void reset_producers();

// Events dropped for lack of memory or of a consumer.
uint64_t lost_events();

}  // namespace halo::logging
