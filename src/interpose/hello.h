// The two channels from the guest to the recorder, if one is attached.
#pragma once

#include <valgrind/valgrind.h>

#include "interpose/protocol.h"

namespace halo::interpose {

// Inline, because libc's syscall() would set errno.
inline void call_recorder(volatile Hello& hello) {
  if (VALGRIND_DO_CLIENT_REQUEST_EXPR(0, kHelloRequest, &hello, 0, 0, 0, 0) != 0) return;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(kHelloCall), "D"(&hello)
                   : "rcx", "r11", "memory");
}

}  // namespace halo::interpose
