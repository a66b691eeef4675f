// The code of this process, which under qemu-user with guest base 0 is also the guest's.
#pragma once

#include "record/module_table.h"

namespace halo::record {

// From the memory map, and the ELF headers in memory.
void for_each_live_code(const CodeVisitor& visit);

}  // namespace halo::record
