// Interposes the functions that set actions and masks of signals.
#include "recorder/native/signals.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>

#include <atomic>
#include <cerrno>

#include "base/old_c_library.h"
#include "base/system_call.h"
#include "recorder/native/burst/bursts.h"
#include "recorder/wrappers/wrapper.h"

namespace {

using halo::native::kTimerSignal;
using SetAction = int (*)(int, const struct sigaction*, struct sigaction*);
using SetMask = int (*)(int, const sigset_t*, sigset_t*);

constinit SetAction next_sigaction = nullptr;
constinit SetMask next_sigprocmask = nullptr, next_pthread_sigmask = nullptr;
constinit halo::native::TimerHandler timer_handler = nullptr;
constinit halo::native::RequestHandler request_handler = nullptr;

// The program's actions for the signals that have handlers of ours. A handler that runs while its
// action changes may be either.
struct sigaction actions[NSIG];

bool has_own_handler(int signal) {
  switch (signal) {
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGSYS:
      return true;
    default:
      return signal == kTimerSignal && timer_handler != nullptr;
  }
}

bool is_handled(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

uint64_t& bits(sigset_t& set) { return reinterpret_cast<uint64_t&>(set); }
constexpr uint64_t bit(int signal) { return uint64_t{1} << (signal - 1); }

void call(const struct sigaction& action, int signal, siginfo_t* info, void* context) {
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
}

void on_fault(int signal, siginfo_t* info, void* context) {
  auto& faulted = *static_cast<ucontext_t*>(context);
  halo::native::bursts.leave_at_fault(faulted);
  struct sigaction action = actions[signal];
  // The kernel has computed the handler's mask from that of the burst.
  uint64_t mask = bits(action.sa_mask) | bits(faulted.uc_sigmask);
  if ((action.sa_flags & SA_NODEFER) == 0) mask |= bit(signal);
  halo::system_call(SYS_rt_sigprocmask, SIG_SETMASK, halo::address_of(&mask), 0, sizeof mask);
  call(action, signal, info, context);
}

// A system call that the signal has ended, as it waits and cannot be restarted, is made again. The
// registers still have its arguments; its number is the constant that was loaded just before.
void make_call_again(ucontext_t& interrupted) {
  greg_t* registers = interrupted.uc_mcontext.gregs;
  constexpr uint8_t kLoadEax = 0xB8;
  constexpr uint64_t kLength = 7;  // mov eax, number; syscall
  if (registers[REG_RAX] != -EINTR) return;
  const auto* code = reinterpret_cast<const uint8_t*>(registers[REG_RIP]) - kLength;
  if (code[5] != 0x0F || code[6] != 0x05 || code[0] != kLoadEax) return;
  if (code[1] != SYS_close || code[2] != 0) registers[REG_RIP] -= kLength;
}

// A signal of the program has ended the same system call: the kernel delivers those of a thread
// first, and those of the process when the handler returns.
bool other_waits(const ucontext_t& interrupted) {
  uint64_t pending = 0, blocked = 0;
  halo::system_call(SYS_rt_sigpending, halo::address_of(&pending), sizeof pending);
  __builtin_memcpy(&blocked, &interrupted.uc_sigmask, sizeof blocked);
  return (pending & ~blocked & ~bit(kTimerSignal)) != 0;
}

// The value of the signals of leave_call_of(), and how many have arrived.
constinit std::atomic<uint32_t> calls_left{0};

void on_timer_signal(int signal, siginfo_t* info, void* context) {
  if (info->si_code == SI_TIMER && info->si_ptr == &calls_left) {
    halo::native::bursts.leave_call(*static_cast<ucontext_t*>(context));
    calls_left.fetch_add(1, std::memory_order_release);
    return;
  }
  const auto value = reinterpret_cast<uint64_t>(info->si_ptr);
  const bool is_timer = info->si_code == SI_TIMER && info->si_ptr == halo::native::timer_value();
  const bool is_request = info->si_code == SI_QUEUE && value >> 32 == halo::native::kRequest;
  if (is_timer || is_request) {
    auto& interrupted = *static_cast<ucontext_t*>(context);
    if (!other_waits(interrupted)) {
      make_call_again(interrupted);
      halo::native::bursts.make_call_again(interrupted);
    }
    return is_timer ? timer_handler(interrupted) : request_handler(uint32_t(value));
  }
  const struct sigaction action = actions[signal];
  if (is_handled(action)) call(action, signal, info, context);
}

bool find_next() {
  if (next_sigaction == nullptr)
    next_sigaction = reinterpret_cast<SetAction>(halo::find_symbol(RTLD_NEXT, "sigaction"));
  return next_sigaction != nullptr;
}

// The timers' signal must not wait for the end of a handler: it would take the end of a system call
// by the handler's signal for its own doing.
int set_action(int signal, const struct sigaction* given, struct sigaction* before) {
  if (!find_next()) return -1;
  struct sigaction without;
  const struct sigaction* wanted = given;
  if (given != nullptr && timer_handler != nullptr) {
    without = *given;
    bits(without.sa_mask) &= ~bit(kTimerSignal);
    wanted = &without;
  }
  if (!has_own_handler(signal)) return next_sigaction(signal, wanted, before);
  const struct sigaction known = actions[signal];
  int result;
  if (signal == kTimerSignal) {
    if (wanted != nullptr) actions[signal] = *wanted;
    if (before != nullptr) *before = known;
    return 0;
  }
  if (wanted != nullptr && is_handled(*wanted)) {
    actions[signal] = *wanted;
    struct sigaction ours = *wanted;
    ours.sa_flags |= SA_SIGINFO;
    ours.sa_sigaction = on_fault;
    result = next_sigaction(signal, &ours, before);
    if (result != 0) actions[signal] = known;
  } else {
    result = next_sigaction(signal, wanted, before);
  }
  if (result == 0 && before != nullptr && before->sa_sigaction == on_fault) *before = known;
  return result;
}

int set_mask(SetMask& next, const char* name, int how, const sigset_t* wanted, sigset_t* before) {
  if (next == nullptr) next = reinterpret_cast<SetMask>(halo::find_symbol(RTLD_NEXT, name));
  if (next == nullptr) return -1;
  if (wanted == nullptr || how == SIG_UNBLOCK || timer_handler == nullptr)
    return next(how, wanted, before);
  sigset_t without = *wanted;
  bits(without) &= ~bit(kTimerSignal);
  return next(how, &without, before);
}

}  // namespace

HALO_EXPORT int sigaction(int signal, const struct sigaction* wanted,
                          struct sigaction* before) noexcept {
  return set_action(signal, wanted, before);
}

HALO_EXPORT sighandler_t signal(int signal, sighandler_t handler) noexcept {
  struct sigaction wanted{}, before{};
  wanted.sa_handler = handler;
  wanted.sa_flags = SA_RESTART;
  return set_action(signal, &wanted, &before) == 0 ? before.sa_handler : SIG_ERR;
}

HALO_EXPORT int sigprocmask(int how, const sigset_t* wanted, sigset_t* before) noexcept {
  return set_mask(next_sigprocmask, "sigprocmask", how, wanted, before);
}

HALO_EXPORT int pthread_sigmask(int how, const sigset_t* wanted, sigset_t* before) noexcept {
  return set_mask(next_pthread_sigmask, "pthread_sigmask", how, wanted, before);
}

namespace halo::native {

void* timer_value() { return &timer_handler; }

void leave_call_of(pid_t thread) {
  if (timer_handler == nullptr) return;
  constexpr int kTurns = 10'000;  // also for a burst on a busy machine
  constexpr timespec kTurn{0, 50'000};
  const uint32_t before = calls_left.load(std::memory_order_acquire);
  siginfo_t info{};
  info.si_signo = kTimerSignal;
  info.si_code = SI_TIMER;
  info.si_ptr = &calls_left;
  if (system_call(SYS_rt_tgsigqueueinfo, uint64_t(system_call(SYS_getpid)), uint64_t(thread),
                  kTimerSignal, address_of(&info)) != 0)
    return;
  for (int turn = 0; turn < kTurns; ++turn) {
    if (calls_left.load(std::memory_order_acquire) != before) return;
    system_call(SYS_nanosleep, address_of(&kTurn), 0);
  }
}

bool watch_signals(TimerHandler on_timer, RequestHandler on_request) {
  if (!find_next()) return false;
  struct sigaction action{};
  if (next_sigaction(kTimerSignal, nullptr, &actions[kTimerSignal]) != 0) return false;
  action.sa_sigaction = on_timer_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  bits(action.sa_mask) = ~uint64_t{0};
  timer_handler = on_timer;
  request_handler = on_request;
  return next_sigaction(kTimerSignal, &action, nullptr) == 0;
}

}  // namespace halo::native
