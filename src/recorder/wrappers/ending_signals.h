// Signals that end the process: the listener runs before that.
#pragma once

#include <span>

namespace halo::interpose {

// Runs `leave`, with the signal's number, before one of the signals ends the process. Signals that
// the program handles or ignores are not changed, and the program sees the default action for the
// others. `signals` must stay valid.
void watch_ending_signals(std::span<const int> signals, void (*leave)(int signal));

}  // namespace halo::interpose
