// Reads a trace from a file descriptor and hands its events to a consumer in one order.
#pragma once

#include "record/llvm/trace_consumer.h"

namespace halo::record::llvm {

// Throws trace::file::TraceError where it is no trace, one of a newer version, or damaged; what
// came before the damage has been consumed, as a trace that is cut short. One that is, is no error.
void read_trace(int descriptor, TraceConsumer& consumer);

}  // namespace halo::record::llvm
