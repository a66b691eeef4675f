// Keeps all signals from this thread for a while.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace halo::logging {

// By the system call: libc's function leaves out the signals that libc itself uses.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    const uint64_t all = ~uint64_t{0};
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before_, sizeof all);
  }
  ~SignalsBlocked() { syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  uint64_t before_ = 0;
};

}  // namespace halo::logging
