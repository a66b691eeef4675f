// The code that a process has mapped from files.
#pragma once

#include <sys/types.h>

#include "record/memory_map.h"
#include "record/module_table.h"

namespace halo::record {

// From the memory map, and the ELF headers in memory. `of_recorder` says which mappings are not the
// recorded program's.
void for_each_live_code(pid_t process, bool (*of_recorder)(const MapsLine&),
                        const CodeVisitor& visit);

// As qemu-user has it in this process: it maps the guest's code without the right to execute it.
void for_each_emulated_code(const CodeVisitor& visit);

}  // namespace halo::record
