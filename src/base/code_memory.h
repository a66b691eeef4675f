// Which system calls make memory executable that does not belong to a module.
#pragma once

#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>

#include <cstdint>

namespace halo {

// Whether the call prepares memory for code that is generated at run time, given its third and
// fourth arguments. The dynamic linker maps code from private files, and changes no rights to
// "executable" except those of stacks.
inline bool makes_generated_code(int64_t call, uint64_t third, uint64_t fourth) {
  const bool executable = (third & PROT_EXEC) != 0;
  switch (call) {
    case SYS_mmap:
      return executable && ((fourth & MAP_ANONYMOUS) != 0 || (fourth & MAP_PRIVATE) == 0);
    case SYS_mprotect:
    case SYS_pkey_mprotect:
      return executable && (third & PROT_GROWSDOWN) == 0;
    case SYS_shmat:
      return (third & SHM_EXEC) != 0;
    default:
      return false;
  }
}

}  // namespace halo
