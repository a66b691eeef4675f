// The program's own calls of dlopen and dlclose, while they are under way.
#pragma once

namespace halo::runtime {

// Prepares for threads that end and processes that fork while modules change. Once.
void watch_modules();

// The calling thread is about to enter dlopen. Until it is seen to have returned, allocations that
// are in no group are looked at first: those that the dynamic linker makes itself, while it maps
// modules, are the times to look at its list.
void begin_opening();

// The calling thread is about to enter dlclose, and has returned from it.
void begin_closing();
void end_closing();

}  // namespace halo::runtime
