// The signals by which people end programs: HUP, INT, PIPE and TERM.
#pragma once

namespace halo::litter {

// From now on `leave` runs before one of them ends the process. Where the program handles or
// ignores one, that is untouched; to the program it looks as if the system had the others.
void watch_ending_signals(void (*leave)());

}  // namespace halo::litter
