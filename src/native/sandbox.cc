// Interposes the functions by which a program restricts its own system calls.
//
// The engine makes some that the program does not. So it stops before: what was recorded until then
// is the recording.
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstdarg>

#include "base/system_call.h"
#include "interpose/wrapper.h"
#include "native/engine.h"

HALO_EXPORT int prctl(int option, ...) noexcept {
  va_list rest;
  va_start(rest, option);
  uint64_t given[4];
  for (uint64_t& one : given) one = va_arg(rest, uint64_t);
  va_end(rest);
  if (option == PR_SET_SECCOMP) halo::native::engine.stop();
  return int(halo::with_errno(halo::system_call(SYS_prctl, uint64_t(int64_t{option}), given[0],
                                                given[1], given[2], given[3])));
}

HALO_EXPORT long syscall(long number, ...) noexcept {
  va_list rest;
  va_start(rest, number);
  uint64_t given[6];
  for (uint64_t& one : given) one = va_arg(rest, uint64_t);
  va_end(rest);
  const bool restricts =
      number == SYS_seccomp || (number == SYS_prctl && given[0] == PR_SET_SECCOMP);
  if (restricts) halo::native::engine.stop();
  return halo::with_errno(
      halo::system_call(number, given[0], given[1], given[2], given[3], given[4], given[5]));
}
