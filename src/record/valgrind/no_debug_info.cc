// In the place of the core's readers of symbols and debug information, by the linker's --wrap.
//
// The engine tells addresses, and the consumer finds out what they are. So nothing of what the core
// would read is needed; it takes a part of each start, and the core ends the program where it does
// not understand it (as version 3.19 with DWARF 5 of clang 19).
#include "record/valgrind/api.h"

extern "C" {
struct _DebugInfo;
// Versions up to 3.21 ask for all at once, later ones for the object first.
Bool __wrap_vgModuleLocal_read_elf_debug_info(_DebugInfo*) { return False; }
Bool __wrap_vgModuleLocal_read_elf_object(_DebugInfo*) { return False; }
Bool __wrap_vgModuleLocal_read_elf_debug(_DebugInfo*) { return False; }
}
