// Takes the place of the default action, and hides it: programs ask whether a signal has it (Python
// handles INT only then), and give it back to end themselves by the signal.
#include "litter/ending_signals.h"

#include <dlfcn.h>
#include <signal.h>

#include "record/guest/wrapper.h"

namespace {

using Leave = void (*)();
using Handler = void (*)(int);
using Sigaction = int (*)(int, const struct sigaction*, struct sigaction*);
using Signal = Handler (*)(int, Handler);

constexpr int ending_signals[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM};

constinit Leave leave_output = nullptr;  // nullptr: nothing is watched
constinit Sigaction next_sigaction = nullptr;
constinit Signal next_signal = nullptr;

void leave_at_signal(int signal) {
  leave_output();
  raise(signal);  // the handler is gone (SA_RESETHAND): it ends the process as it would have
}

void look_up() {
  next_sigaction = reinterpret_cast<Sigaction>(dlsym(RTLD_NEXT, "sigaction"));
  next_signal = reinterpret_cast<Signal>(dlsym(RTLD_NEXT, "signal"));
}

bool is_watched(int signal) {
  if (leave_output == nullptr) return false;
  for (const int watched : ending_signals)
    if (watched == signal) return true;
  return false;
}

struct sigaction leaving() {
  struct sigaction action{};
  action.sa_handler = leave_at_signal;
  action.sa_flags = SA_RESETHAND | SA_NODEFER;
  return action;
}

}  // namespace

HALO_EXPORT int sigaction(int signal, const struct sigaction* wanted,
                          struct sigaction* before) noexcept {
  if (next_sigaction == nullptr) look_up();
  const struct sigaction ours = leaving();
  if (wanted != nullptr && wanted->sa_handler == SIG_DFL && is_watched(signal)) wanted = &ours;
  const int result = next_sigaction(signal, wanted, before);
  if (result == 0 && before != nullptr && before->sa_handler == leave_at_signal) *before = {};
  return result;
}

HALO_EXPORT Handler signal(int signal, Handler handler) noexcept {
  if (next_signal == nullptr) look_up();
  if (handler != SIG_DFL || !is_watched(signal)) {
    const Handler before = next_signal(signal, handler);
    return before == leave_at_signal ? SIG_DFL : before;
  }
  struct sigaction wanted{}, before{};
  wanted.sa_handler = SIG_DFL;
  return sigaction(signal, &wanted, &before) == 0 ? before.sa_handler : SIG_ERR;
}

namespace halo::litter {

void watch_ending_signals(void (*leave)()) {
  look_up();
  leave_output = leave;
  for (const int signal : ending_signals) {
    struct sigaction action{};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL)
      sigaction(signal, &action, nullptr);
  }
}

}  // namespace halo::litter
