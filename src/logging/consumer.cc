// The consumer's thread, and what it is asked for.
#include "logging/consumer.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "base/keep_errno.h"
#include "logging/emptying.h"
#include "logging/futex.h"
#include "logging/lasting.h"
#include "logging/own_work.h"
#include "logging/producer.h"
#include "logging/signals_blocked.h"
#include "trace/epoch_merge.h"

namespace halo::logging {

namespace {

constexpr int64_t kLongestPause = 100;  // milliseconds
constexpr size_t kStackBytes = 512 * 1024;

enum class Wish : uint32_t { kNone, kEnd, kEndForExec, kResume };
// A wish and what goes with it, in one word: whoever comes first is heard.
constexpr uint64_t wish_word(Wish wish, trace::file::Ending ending = {}, uint32_t detail = 0) {
  return uint64_t(wish) | uint64_t(ending) << 8 | uint64_t(detail) << 32;
}
enum class State : uint32_t {
  kUnprepared,
  kPrepared,  // nobody has logged
  kRunning,
  kPaused,  // an end is written, in case that exec succeeds
  kEnded,
};

struct Consumer {
  Output* output = nullptr;
  pid_t process = 0;
  Lock starting;
  std::atomic<State> state{State::kUnprepared};
  std::atomic<uint32_t> work{0};  // changes when there is some
  std::atomic<uint32_t> sleeps{0};
  std::atomic<uint64_t> wish{0};
  std::atomic<bool> without_main{false};
  std::atomic<uint32_t> answers{0};  // changes when a wish has been fulfilled
};

constinit Consumer consumer;
constinit Lasting<Emptying> lasting;
constexpr Emptying& emptying = lasting.object;
__thread bool is_consumer __attribute__((tls_model("initial-exec")));

void finish(trace::file::Ending ending, uint32_t detail) {
  halo_log_epoch.store(0);
  emptying.round(~uint64_t{0}, true);
  emptying.end(ending, detail);
  consumer.state = State::kEnded;
}

// False where nothing more is to be done.
bool fulfil(uint64_t word) {
  switch (Wish(word & 0xff)) {
    case Wish::kNone:
      return true;
    case Wish::kEnd:
      if (consumer.state == State::kPaused) emptying.continue_after_end();
      finish(trace::file::Ending(word >> 8 & 0xff), uint32_t(word >> 32));
      break;
    case Wish::kEndForExec:
      emptying.round(trace::owner_key(advance_epoch()), false);
      emptying.end(trace::file::Ending::kExec, 0);
      consumer.state = State::kPaused;
      break;
    case Wish::kResume:
      if (emptying.continue_after_end()) {
        consumer.state = State::kRunning;
      } else {
        halo_log_epoch.store(0);
        consumer.state = State::kEnded;
      }
      break;
  }
  consumer.wish = 0;
  consumer.answers.fetch_add(1);
  futex_wake_all(consumer.answers);
  return consumer.state != State::kEnded;
}

void pause_until_work(uint32_t seen) {
  consumer.sleeps.store(1);
  if (consumer.work.load() == seen && consumer.wish.load() == 0)
    futex_wait(consumer.work, seen, kLongestPause);
  consumer.sleeps.store(0);
}

bool is_last_thread() {
  char text[4096];
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t bytes = read(file, text, sizeof text - 1);
  close(file);
  text[bytes > 0 ? bytes : 0] = '\0';
  const char* threads = strstr(text, "\nThreads:");
  return threads != nullptr && strtol(threads + 9, nullptr, 10) == 2;  // and what is left of main's
}

// As libc does in the last thread.
void exit_as_last_thread() {
  finish(trace::file::Ending::kComplete, 0);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  exit(0);
}

// Not the two by which libc speaks to all threads: setuid waits for an answer of each.
void let_libc_in() {
  const uint64_t blocked = ~(uint64_t{1} << 31 | uint64_t{1} << 32);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, nullptr, sizeof blocked);
}

void* run(void*) {
  is_consumer = true;
  let_libc_in();
  const OwnWork own;
  pthread_setname_np(pthread_self(), "halo-logging");
  bool alive = emptying.begin(consumer.output);
  if (!alive) {
    halo_log_epoch.store(0);
    consumer.state = State::kEnded;
    consumer.answers.fetch_add(1);
    futex_wake_all(consumer.answers);
  }
  while (alive) {
    const uint32_t seen = consumer.work.load();
    if (consumer.state == State::kRunning) {
      emptying.round(trace::owner_key(advance_epoch()), false);
      if (emptying.failed()) finish(trace::file::Ending::kNoSpace, emptying.error());
    }
    alive = fulfil(consumer.wish.load()) && consumer.state != State::kEnded;
    if (alive && consumer.without_main && is_last_thread()) exit_as_last_thread();
    if (alive) pause_until_work(seen);
  }
  return nullptr;
}

// Signals are blocked, for the new thread, too.
bool start() {
  const OwnWork own;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  consumer.state = State::kRunning;
  const bool started = pthread_create(&thread, &attributes, run, nullptr) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) {
    halo_log_epoch.store(0);
    consumer.state = State::kEnded;
  }
  return started;
}

// Until the wish is fulfilled, or there is nobody any more who could.
void ask(uint64_t word) {
  bool heard = false;
  while (consumer.state == State::kRunning || consumer.state == State::kPaused) {
    const uint32_t seen = consumer.answers.load();
    uint64_t none = 0;
    if (!heard) {
      heard = consumer.wish.compare_exchange_strong(none, word);
      wake_consumer();
    } else if (consumer.wish != word) {
      return;
    }
    futex_wait(consumer.answers, seen, 100);
  }
}

bool is_there() {
  const State state = consumer.state;
  return (state == State::kRunning || state == State::kPaused) && consumer.process == getpid() &&
         !is_consumer;
}

}  // namespace

void prepare_consumer(Output* output) {
  consumer.output = output;
  consumer.process = getpid();
  consumer.state = State::kPrepared;
}

bool ensure_consumer() {
  if (consumer.process != getpid()) return false;
  if (consumer.state == State::kPrepared) {
    const SignalsBlocked blocked;
    const Locked locked(consumer.starting);
    if (consumer.state == State::kPrepared) start();
  }
  return consumer.state == State::kRunning || consumer.state == State::kPaused;
}

void wake_consumer() {
  consumer.work.fetch_add(1);
  if (consumer.sleeps.load() != 0) futex_wake_all(consumer.work);
}

void end_trace(trace::file::Ending ending, uint32_t detail) {
  const KeepErrno keep;
  if (!is_there()) return;
  ask(wish_word(Wish::kEnd, ending, detail));
}

void end_trace_for_exec() {
  const KeepErrno keep;
  if (is_there()) ask(wish_word(Wish::kEndForExec));
}

void resume_trace() {
  const KeepErrno keep;
  if (is_there()) ask(wish_word(Wish::kResume));
}

void main_thread_ended() { consumer.without_main = true; }

void forget_consumer(Output* output) {
  new (&consumer) Consumer;
  if (output != nullptr) prepare_consumer(output);
}

}  // namespace halo::logging
