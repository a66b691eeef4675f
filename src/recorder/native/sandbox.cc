// Interposes the functions by which a program restricts its own system calls.
//
// The engine makes some that the program does not. So it stops before: what was recorded until then
// is the recording.
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstdarg>

#include "base/system_call.h"
#include "recorder/native/engine.h"
#include "recorder/wrappers/wrapper.h"

namespace {

// As many as a system call has at most; a caller may have passed fewer.
struct Arguments {
  explicit Arguments(va_list rest) {
    for (uint64_t& one : at) one = va_arg(rest, uint64_t);
  }
  uint64_t at[6];
};

template <class... Given>
long call(long number, uint64_t first, Given... others) {
  const bool restricts = number == SYS_seccomp || (number == SYS_prctl && first == PR_SET_SECCOMP);
  if (restricts) halo::native::engine.stop();
  return halo::with_errno(halo::system_call(number, first, others...));
}

}  // namespace

HALO_EXPORT int prctl(int option, ...) noexcept {
  va_list rest;
  va_start(rest, option);
  const Arguments given(rest);
  va_end(rest);
  return int(call(SYS_prctl, uint64_t(int64_t{option}), given.at[0], given.at[1], given.at[2],
                  given.at[3]));
}

HALO_EXPORT long syscall(long number, ...) noexcept {
  va_list rest;
  va_start(rest, number);
  const Arguments given(rest);
  va_end(rest);
  return call(number, given.at[0], given.at[1], given.at[2], given.at[3], given.at[4], given.at[5]);
}
