// The process's start, threads, forks and normal exit.
#include "tracing/library/process.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "recorder/wrappers/ending_signals.h"
#include "recorder/wrappers/exits.h"
#include "recorder/wrappers/next_allocator.h"
#include "tracing/library/consumer.h"
#include "tracing/library/output/output.h"
#include "tracing/library/producer.h"
#include "tracing/library/reentrancy_guard.h"
#include "tracing/library/ring.h"

namespace halo::logging {

namespace {

constexpr int kEndingSignals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,   SIGTRAP,   SIGABRT,
                                  SIGBUS,  SIGFPE,  SIGUSR1, SIGSEGV,  SIGUSR2,   SIGPIPE,
                                  SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ,  SIGVTALRM, SIGPROF,
                                  SIGIO,   SIGPWR,  SIGSYS,  SIGSTKFLT};

constinit Output* output = nullptr;
constinit bool requested = false;
constinit bool looked = false;
constinit bool has_key = false;
pthread_key_t key;
sigset_t before_fork;

// libc repeats the destructors of keys while they set values. In the last round, nearly all of them
// have logged their events.
void leave_thread(void* round) {
  const KeepErrno keep;
  const auto number = reinterpret_cast<uintptr_t>(round);
  if (number < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(key, reinterpret_cast<void*>(number + 1));
  } else {
    end_thread();
    if (gettid() == getpid()) main_thread_ended();
  }
}

// No thread may be changing data that the child will use.
void prepare_fork() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  modules.lock().lock();
  before_fork = before;  // valid for the lock's holder
}

void leave_fork() {
  const sigset_t before = before_fork;
  modules.lock().unlock();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void begin_child() {
  const KeepErrno keep;
  modules.keep_present();
  rings.reset();
  reset_producers();
  const bool goes_on = requested && output->begin_in_child();
  reset_consumer(goes_on ? output : nullptr);
  // The parent or exec's child may have ended its trace; this child has its own.
  if (!goes_on) requested = false;
  if (goes_on && halo_log_epoch == 0) halo_log_epoch = 1;
  if (!goes_on) halo_log_epoch = 0;
  pthread_sigmask(SIG_SETMASK, &before_fork, nullptr);
}

void leave_at_signal(int signal) { end_trace(trace::Ending::kSignal, uint32_t(signal)); }

// Late: after the destructors of all modules that depend on this library.
__attribute__((destructor)) void finish() { end_trace(trace::Ending::kComplete, 0); }

__attribute__((constructor)) void begin() {
  const KeepErrno keep;
  interpose::next_allocator();
  begin_process();
  if (!requested) return;
  const ReentrancyGuard own;
  has_key = pthread_key_create(&key, leave_thread) == 0;
  pthread_atfork(prepare_fork, leave_fork, begin_child);
  interpose::watch_ending_signals(kEndingSignals, leave_at_signal);
  interpose::watch_exits(finish);
  at_quick_exit(finish);
  prepare_consumer(output);
  ensure_consumer();
  begin_thread(halo_log_local);
}

}  // namespace

bool is_requested() {
  begin_process();
  return requested;
}

void begin_process() {
  if (looked) return;
  looked = true;
  const KeepErrno keep;
  const char* value = secure_getenv("HALO_TRACE");
  if (value == nullptr || *value == '\0') return;
  output = choose_output(value);
  if (output == nullptr) return;
  requested = true;
  detect_processor_state();
  halo_log_epoch.store(1);
}

void begin_thread(const Local& local) {
  if (!has_key || &local != &halo_log_local) return;
  const ReentrancyGuard own;
  pthread_setspecific(key, reinterpret_cast<void*>(1));
  ensure_consumer();
}

}  // namespace halo::logging
