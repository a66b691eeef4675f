// Signals that end the process: whoever listens has a last word.
#pragma once

#include <span>

namespace halo::record::guest {

// From now on `leave` runs, with the signal's number, before one of these ends the process. Where
// the program handles or ignores one, that is untouched; to the program it looks as if the system
// had the others. `signals` stay where they are.
void watch_ending_signals(std::span<const int> signals, void (*leave)(int signal));

}  // namespace halo::record::guest
