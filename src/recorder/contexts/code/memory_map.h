// The memory map of a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>

#include "base/memory_map.h"

namespace halo::record {

// The path is also that of a file that is removed by now. Visits nothing if the process has ended.
void for_each_mapping(pid_t process, const std::function<void(const MapsLine&)>& visit);

// The mapping that contains the address; a range of 64 KiB around it if none does.
AddressRange find_mapping(pid_t process, uint64_t address);

}  // namespace halo::record
