// Replaces the core's reading of debug information of mapped files, by the linker's --wrap.
#include "recorder/valgrind/api.h"

// The engine sends addresses, and the consumer resolves them, so the core's symbols and debug
// information are not needed. Reading them delays each start, and the core aborts if it cannot
// parse them (as 3.19 with DWARF 5 of clang 19).
extern "C" {
// From pub_core_debuginfo.h, called for each mapping. Returns the handle of the information; 0:
// none.
ULong __wrap_vgPlain_di_notify_mmap(Addr, Bool, Int);
ULong __wrap_vgPlain_di_notify_mmap(Addr, Bool, Int) { return 0; }
}
