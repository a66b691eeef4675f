// The system call by which the guest speaks to the recorder, if there is one.
#pragma once

#include "record/protocol.h"

namespace halo::record::guest {

// Inline, because libc's syscall() would set errno.
inline void call_recorder(volatile Hello& hello) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(kHelloCall), "D"(&hello)
                   : "rcx", "r11", "memory");
}

}  // namespace halo::record::guest
