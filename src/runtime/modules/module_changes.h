// Tracks the program's own calls of dlopen and dlclose.
#pragma once

namespace halo::runtime {

// Prepares for threads that end and processes that fork while modules change. Called once.
void watch_modules();

// The calling thread is about to enter dlopen. Until its return is detected, allocations in no
// group are inspected first. The dynamic linker itself allocates while it maps modules; at these
// times the runtime reads its list.
void begin_opening();

// The calling thread is about to enter dlclose, or has returned from it.
void begin_closing();
void end_closing();

}  // namespace halo::runtime
