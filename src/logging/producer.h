// Where events enter a thread's ring: all that the fast path of the hook cannot do.
//
// A handler that interrupts anything here, or the hook, may log: its records lie behind the place
// that the interrupted code has reserved. Only taking a ring or a segment needs signals blocked.
#pragma once

#include <cstdint>
#include <span>

#include "logging/local.h"

namespace halo::logging {

// Before the first event.
void learn_processor_state();

// An event of instrumented code.
void log(const Logged& event);

// Events that make an epoch of their own: the first record is a kEpoch marker, whose word1 is set
// here. They lie side by side in the trace. At most kMostTogether.
inline constexpr uint32_t kMostTogether = 72;
void log_own_epoch(std::span<Logged> records);

// The next epoch; 0 where nothing is logged.
uint64_t advance_epoch();

// The thread ends: its ring may be another's once it is consumed. What it logs later is the
// stragglers'.
void end_thread();

// In a forked child: this thread has no ring, and none of the records of the stragglers are ours.
void forget_producers();

// Events that found no place: no memory, or no consumer.
uint64_t lost_events();

}  // namespace halo::logging
