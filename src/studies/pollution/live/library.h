// What the functions that this library takes over from libc ask of the watch.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::watching {

// If the watch may arm pages of this range: disarms all pages, and arms none until `resume`.
// Otherwise returns false.
bool pause_for(uintptr_t begin, size_t bytes);
void resume();

// Ends the watch and its thread for good. Returns false if there was none.
bool end_watch();

}  // namespace halo::watching
