// The memory map of a process. Under qemu-user with guest base 0 the emulator's is also the
// guest's.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <functional>

#include "base/memory_map.h"

namespace halo::record {

// The path is also that of a file that is removed by now. Visits nothing if the process has ended.
void for_each_mapping(pid_t process, const std::function<void(const MapsLine&)>& visit);

// The mapping that contains the address; a range of 64 KiB around it if none does.
AddressRange find_mapping(pid_t process, uint64_t address);
inline AddressRange find_own_mapping(uint64_t address) { return find_mapping(getpid(), address); }

}  // namespace halo::record
