// Beginning, threads, forks, and the ordinary end.
#include "logging/process.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "logging/consumer.h"
#include "logging/output/output.h"
#include "logging/own_work.h"
#include "logging/producer.h"
#include "logging/ring.h"
#include "logging/signals_blocked.h"
#include "record/guest/ending_signals.h"
#include "record/guest/next_allocator.h"

namespace halo::logging {

namespace {

constexpr int ending_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,   SIGTRAP,   SIGABRT,
                                  SIGBUS,  SIGFPE,  SIGUSR1, SIGSEGV,  SIGUSR2,   SIGPIPE,
                                  SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ,  SIGVTALRM, SIGPROF,
                                  SIGIO,   SIGPWR,  SIGSYS,  SIGSTKFLT};

constinit Output* output = nullptr;
constinit bool asked = false;
constinit bool looked = false;
constinit bool has_key = false;
pthread_key_t key;
sigset_t before_fork;

// libc calls the destructors of keys again while they set values. In the last of its rounds nearly
// all of them have logged what they had to.
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

// No thread may be in the middle of a change to what the child will use.
void prepare_fork() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  modules.lock().lock();
  before_fork = before;  // the lock's holder's
}

void leave_fork() {
  const sigset_t before = before_fork;
  modules.lock().unlock();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void begin_child() {
  const KeepErrno keep;
  modules.keep_present();
  rings.forget_all();
  forget_producers();
  const bool goes_on = asked && output->begin_in_child();
  forget_consumer(goes_on ? output : nullptr);
  // The parent may have ended its trace, or exec's child may; this one has its own.
  if (!goes_on) asked = false;
  if (goes_on && halo_log_epoch == 0) halo_log_epoch = 1;
  if (!goes_on) halo_log_epoch = 0;
  pthread_sigmask(SIG_SETMASK, &before_fork, nullptr);
}

void leave_at_signal(int signal) { end_trace(trace::file::Ending::kSignal, uint32_t(signal)); }

// Late: after the destructors of all that depends on this library.
__attribute__((destructor)) void finish() { end_trace(trace::file::Ending::kComplete, 0); }

__attribute__((constructor)) void begin() {
  const KeepErrno keep;
  record::guest::next_allocator();
  begin_process();
  if (!asked) return;
  const OwnWork own;
  has_key = pthread_key_create(&key, leave_thread) == 0;
  pthread_atfork(prepare_fork, leave_fork, begin_child);
  record::guest::watch_ending_signals(ending_signals, leave_at_signal);
  at_quick_exit(finish);
  prepare_consumer(output);
  ensure_consumer();
  begin_thread(halo_log_local);
}

}  // namespace

bool is_asked() {
  begin_process();
  return asked;
}

void begin_process() {
  if (looked) return;
  looked = true;
  const KeepErrno keep;
  const char* value = secure_getenv("HALO_TRACE");
  if (value == nullptr || *value == '\0') return;
  output = choose_output(value);
  if (output == nullptr) return;
  asked = true;
  learn_processor_state();
  halo_log_epoch.store(1);
}

void begin_thread(const Local& local) {
  if (!has_key || &local != &halo_log_local) return;
  const OwnWork own;
  pthread_setspecific(key, reinterpret_cast<void*>(1));
  ensure_consumer();
}

}  // namespace halo::logging
