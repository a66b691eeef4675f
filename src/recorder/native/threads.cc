// Interposes what creates and cancels threads.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "base/old_c_library.h"
#include "recorder/native/burst/bursts.h"
#include "recorder/native/engine.h"
#include "recorder/native/signals.h"
#include "recorder/wrappers/wrapper.h"

namespace {

using Routine = void* (*)(void*);
using Create = int (*)(pthread_t*, const pthread_attr_t*, Routine, void*);
using Cancel = int (*)(pthread_t);

constinit Create next_create = nullptr;
constinit Cancel next_cancel = nullptr;

// A thread that is being created.
struct Start {
  std::atomic<bool> taken;
  Routine routine;
  void* argument;
};
constinit Start starts[64] = {};

// A thread is recorded from its begin, also if it never allocates. Compiled as a jump, so that call
// stacks are as they would be.
void* run(void* given) {
  Start& start = *static_cast<Start*>(given);
  const Routine routine = start.routine;
  void* argument = start.argument;
  start.taken.store(false, std::memory_order_release);
  halo::native::engine.enter();
  return routine(argument);
}

// The number of a thread that has not ended; the clock's has it in its upper bits, inverted.
pid_t number_of(pthread_t thread) {
  clockid_t clock;
  constexpr int kKindBits = 3;
  return pthread_getcpuclockid(thread, &clock) != 0 ? 0 : pid_t(~(clock >> kKindBits));
}

template <class Function>
bool find(Function& next, const char* name) {
  if (next == nullptr) next = reinterpret_cast<Function>(halo::find_symbol(RTLD_NEXT, name));
  return next != nullptr;
}

}  // namespace

HALO_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, Routine routine,
                               void* argument) noexcept {
  if (!find(next_create, "pthread_create")) return EAGAIN;
  if (halo::native::engine.is_on()) {
    for (Start& start : starts) {
      if (start.taken.exchange(true, std::memory_order_acquire)) continue;
      start.routine = routine;
      start.argument = argument;
      const int result = next_create(thread, attributes, run, &start);
      if (result != 0) start.taken.store(false, std::memory_order_release);
      return result;
    }
  }
  return next_create(thread, attributes, routine, argument);
}

HALO_EXPORT int pthread_cancel(pthread_t thread) {
  if (!find(next_cancel, "pthread_cancel")) return ENOSYS;
  halo::native::bursts.set_pausing(false);
  if (const pid_t number = number_of(thread); number > 0 && halo::native::engine.is_on())
    halo::native::leave_call_of(number);
  return next_cancel(thread);
}
