// The consumer: the thread that empties the rings, in rounds, into the output.
#pragma once

#include <cstdint>

#include "tracing/library/output/output.h"

namespace halo::logging {

// A round follows events/epoch_merge.h: it takes the limit from the epoch first and reads the rings
// afterwards.

// Sets the output of this process. Must precede ensure_consumer().
void prepare_consumer(Output* output);
// Starts the consumer if the process has none. Returns false if it cannot run: too early or too
// late in the process's life, or in the child of a vfork.
bool ensure_consumer();
// Announces work: a full segment, or a waiting thread.
void wake_consumer();

// Writes all events logged so far and ends the trace; only the first call counts. Returns when that
// is done; later events are dropped. Any thread and any signal handler may call it.
void end_trace(trace::Ending ending, uint32_t detail);
// Likewise, around an attempt to exec; events logged after `resume_trace` are written again.
void end_trace_for_exec();
void resume_trace();

// The main thread has ended, and others may continue. A process ends with its last thread; the
// consumer ensures that it is not the last one.
void main_thread_ended();

// Called in a forked child: it has no consumer, and has written nothing.
void reset_consumer(Output* output);

}  // namespace halo::logging
