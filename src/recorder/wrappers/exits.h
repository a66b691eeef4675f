// Ways out of a process that run no destructors: _exit and _Exit.
#pragma once

namespace halo::interpose {

// From now on `leave` runs before the process ends by one of them.
void watch_exits(void (*leave)());

}  // namespace halo::interpose
