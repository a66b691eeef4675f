// Signals that end the process: the trace is completed first.
#pragma once

namespace halo::logging {

// From now on, where the program has the default action. To the program it looks as if it had.
void watch_ending_signals();

}  // namespace halo::logging
