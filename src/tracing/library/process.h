// The life of a traced process: from HALO_TRACE to its end, across forks.
#pragma once

#include "tracing/library/local.h"

namespace halo::logging {

// Whether HALO_TRACE requests a trace of this process and the trace has not ended.
bool is_requested();

// Called once: at the first allocation or in the library's constructor, whichever comes first.
void begin_process();

// A thread has its ring; from now on its end is detected. Signals must be blocked.
void begin_thread(const Local& local);

}  // namespace halo::logging
