// The life of a traced process: from HALO_TRACE to its end, over forks.
#pragma once

#include "logging/local.h"

namespace halo::logging {

// HALO_TRACE asks for a trace of this process, and it has not been ended for good.
bool is_asked();

// Once, at the first allocation or in the library's constructor, whatever comes first.
void begin_process();

// A thread has got its ring: from now on its end is noticed. Signals are blocked.
void begin_thread(const Local& local);

}  // namespace halo::logging
