// A setting for all dlopen calls of the program.
#pragma once

namespace halo::runtime {

// Removes RTLD_DEEPBIND from dlopen's flags. Libraries bound that way would find the C library's
// malloc first, and pass blocks of one allocator to the other.
void forbid_deep_binding();

}  // namespace halo::runtime
