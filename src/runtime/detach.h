// Out of the way: in a process that no plan serves, the runtime has no business in any call.
#pragma once

namespace halo::runtime {

// Binds the calls of the modules loaded now to the functions that they would reach without this
// library: what the dynamic linker would have written into their jump slots. Modules that come
// later, and pointers to functions, still lead here, and are forwarded. Only before the first
// grouped allocation, and never to be undone: what is freed past the runtime cannot be in a group.
void detach();

}  // namespace halo::runtime
