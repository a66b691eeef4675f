// Replaces the default action of signals, and hides that: programs query the action, and restore it
// to end themselves by the signal.
#include "recorder/wrappers/ending_signals.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "base/old_c_library.h"
#include "recorder/wrappers/wrapper.h"

namespace {

using Leave = void (*)(int);
using Handler = void (*)(int);
using Sigaction = int (*)(int, const struct sigaction*, struct sigaction*);
using Signal = Handler (*)(int, Handler);

constinit std::span<const int> watched_signals;  // empty: no signal is watched
constinit Leave leave_process = nullptr;
constinit Sigaction next_sigaction = nullptr;
constinit Signal next_signal = nullptr;

// The handler is removed by SA_RESETHAND. A processor exception repeats on return, with all of its
// details; other signals are sent again.
void leave_at_signal(int signal, siginfo_t* info, void*) {
  const halo::KeepErrno keep;
  leave_process(signal);
  const bool by_processor = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL ||
                            signal == SIGFPE || signal == SIGTRAP;
  if (by_processor && info->si_code > 0 && info->si_code != SI_KERNEL && signal != SIGTRAP) return;
  syscall(SYS_tgkill, getpid(), halo::thread_id(), signal);
}

void look_up() {
  next_sigaction = reinterpret_cast<Sigaction>(halo::find_symbol(RTLD_NEXT, "sigaction"));
  next_signal = reinterpret_cast<Signal>(halo::find_symbol(RTLD_NEXT, "signal"));
}

bool is_watched(int signal) {
  for (const int watched : watched_signals)
    if (watched == signal) return true;
  return false;
}

struct sigaction leaving() {
  struct sigaction action{};
  action.sa_sigaction = leave_at_signal;
  action.sa_flags = SA_RESETHAND | SA_NODEFER | SA_SIGINFO | SA_ONSTACK;
  return action;
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == leave_at_signal;
}

}  // namespace

HALO_EXPORT int sigaction(int signal, const struct sigaction* wanted,
                          struct sigaction* before) noexcept {
  if (next_sigaction == nullptr) look_up();
  const struct sigaction ours = leaving();
  if (wanted != nullptr && wanted->sa_handler == SIG_DFL && is_watched(signal)) wanted = &ours;
  const int result = next_sigaction(signal, wanted, before);
  if (result == 0 && before != nullptr && is_ours(*before)) *before = {};
  return result;
}

HALO_EXPORT Handler signal(int signal, Handler handler) noexcept {
  if (next_signal == nullptr) look_up();
  if (handler != SIG_DFL || !is_watched(signal)) {
    const Handler before = next_signal(signal, handler);
    return reinterpret_cast<void*>(before) == reinterpret_cast<void*>(leave_at_signal) ? SIG_DFL
                                                                                       : before;
  }
  struct sigaction wanted{}, before{};
  wanted.sa_handler = SIG_DFL;
  return sigaction(signal, &wanted, &before) == 0 ? before.sa_handler : SIG_ERR;
}

namespace halo::interpose {

void watch_ending_signals(std::span<const int> signals, void (*leave)(int signal)) {
  look_up();
  leave_process = leave;
  watched_signals = signals;
  for (const int signal : signals) {
    struct sigaction action{};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL)
      sigaction(signal, &action, nullptr);
  }
}

}  // namespace halo::interpose
