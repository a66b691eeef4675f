// The program's signals, as far as the engine has to do with them.
#pragma once

#include <signal.h>
#include <sys/ucontext.h>

#include <cstdint>

namespace halo::native {

// A realtime signal near the last, which few programs use.
inline constexpr int kTimerSignal = 60;

// The timers of the engine have this value, by which their signals are told from others.
void* timer_value();

// The thread leaves its burst, also if it is paused in a system call, and has no more: cancelling
// depends on where a thread is. Waits for that, half a second at most.
void leave_call_of(pid_t thread);

// Called in the handler of a timer's signal.
using TimerHandler = void (*)(ucontext_t& interrupted);
// The timer's signal, sent by sigqueue() with a value whose upper half is this, is a request, whose
// argument is the lower half.
inline constexpr uint64_t kRequest = 0x4F4C4148;  // "HALO"
using RequestHandler = void (*)(uint64_t argument);

// From now on:
// - `on_timer` is called at signals of timers with timer_value(), and `on_request` at requests. The
//   program may use that signal, too. Its masks do not block it.
// - The program's handlers of faults see the state that they would have natively, also if
// translated
//   code has caused them.
// Returns false if that is impossible.
bool watch_signals(TimerHandler on_timer, RequestHandler on_request);

}  // namespace halo::native
