// The report of the watch, as JSON.
#pragma once

#include "studies/pollution/live/live_watch.h"

namespace halo::watching {

// `refusal`: why there was no watch, or empty; `colours_refusal`: why there were no colours. `live`
// may be null. Does nothing if the file cannot be written. `%p` in the path is the process id.
void write_report(const char* path, const LiveWatch* live, const char* refusal,
                  const char* colours_refusal);

}  // namespace halo::watching
