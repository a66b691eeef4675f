// Removes the runtime from the calls of a process that no plan serves.
#pragma once

namespace halo::runtime {

// Binds the calls of the loaded modules to the functions that they would reach without this
// library. It writes their jump slots as the dynamic linker would have done. Modules loaded later
// and function pointers still reach the runtime, which forwards them. Must run before the first
// grouped allocation and is final: frees that bypass the runtime must not get blocks of a group.
void detach();

}  // namespace halo::runtime
