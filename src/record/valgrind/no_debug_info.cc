// In the place of what the core reads of the files that the program maps, by the linker's --wrap.
//
// The engine tells addresses, and the consumer finds out what they are. So nothing of the symbols
// and the debug information that the core would read is needed. It takes a part of each start, and
// the core ends the program where it does not understand it (as 3.19 with DWARF 5 of clang 19).
#include "record/valgrind/api.h"

extern "C" {
// Of pub_core_debuginfo.h, called for each mapping: the number of what was read; 0: there is none.
ULong __wrap_vgPlain_di_notify_mmap(Addr, Bool, Int);
ULong __wrap_vgPlain_di_notify_mmap(Addr, Bool, Int) { return 0; }
}
