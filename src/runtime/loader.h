// What is settled once for every dlopen of the program.
#pragma once

namespace halo::runtime {

// From now on RTLD_DEEPBIND is taken out of dlopen's flags: libraries bound so would find the C
// library's malloc first, and hand blocks of one allocator to the other.
void forbid_deep_binding();

}  // namespace halo::runtime
