// The code that a process has mapped from files.
#pragma once

#include <sys/types.h>

#include "recorder/contexts/code/memory_map.h"
#include "recorder/contexts/code/module_table.h"

namespace halo::record {

// From the memory map and the ELF headers in memory. `of_recorder` returns whether a mapping
// belongs to the recorder and not to the recorded program.
void for_each_live_code(pid_t process, bool (*of_recorder)(const MapsLine&),
                        const CodeVisitor& visit);

}  // namespace halo::record
