// The thread that empties the rings, in rounds, into the output.
//
// A round is as trace/epoch_merge.h wants it: the limit is taken from the epoch first, the rings
// are looked at afterwards.
#pragma once

#include <cstdint>

#include "logging/output/output.h"

namespace halo::logging {

// What the consumer is to write to, for this process. Before ensure_consumer().
void prepare_consumer(Output* output);
// Starts it where this process has none yet. False where nobody will empty the rings: too early in
// the process's life, too late, or this is the child of a vfork.
bool ensure_consumer();
// There is work: a full segment, or a thread that waits.
void wake_consumer();

// Writes all that has been logged until now and ends the trace; the first call of all counts. Waits
// until that is done. Nothing is logged any more. For any thread and any signal handler.
void end_trace(trace::file::Ending ending, uint32_t detail);
// The same around an attempt to become another program: what is logged after `resume` goes on.
void end_trace_for_exec();
void resume_trace();

// The main thread has ended, and others may go on. A process ends with its last thread; the
// consumer sees to it that this is not the consumer.
void main_thread_ended();

// In a forked child: there is no consumer, and nothing has been written.
void forget_consumer(Output* output);

}  // namespace halo::logging
