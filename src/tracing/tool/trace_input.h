// Reads a trace from a file descriptor and passes its events to a consumer in one order.
#pragma once

#include "tracing/tool/trace_consumer.h"

namespace halo::trace_tool {

// Throws trace::TraceError if the input is not a trace, a newer or a damaged one; the events before
// the damage have been consumed, as of a trace that was cut short, which is not an
// error.
void read_trace(int descriptor, TraceConsumer& consumer);

}  // namespace halo::trace_tool
