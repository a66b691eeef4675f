// Keeps signals from this thread for a while.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace halo {

inline constexpr uint64_t kEverySignal = ~uint64_t{0};
// All but the two that libc itself sends to its threads, which may wait for their handlers.
inline constexpr uint64_t kProgramSignals = ~(uint64_t{3} << 31);

// By the system call: libc's function cannot block the signals that libc itself uses.
class SignalsBlocked {
 public:
  explicit SignalsBlocked(uint64_t signals = kEverySignal) {
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &signals, &before_, sizeof signals);
  }
  ~SignalsBlocked() { syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before_, nullptr, sizeof before_); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  uint64_t before_ = 0;
};

}  // namespace halo
