// The consumer's thread, and what it is asked for.
#include "logging/consumer.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "base/keep_errno.h"
#include "base/lasting.h"
#include "logging/emptying.h"
#include "logging/futex.h"
#include "logging/own_thread.h"
#include "logging/own_work.h"
#include "logging/producer.h"
#include "logging/signals_blocked.h"
#include "trace/epoch_merge.h"

namespace halo::logging {

namespace {

constexpr int64_t kLongestPause = 100;  // milliseconds
constexpr int kPausesAtSignal = 100;    // at least ten seconds without an answer

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

// The thread that ends the process where main has ended before it.
enum class Leaver : uint32_t { kNone, kWaits, kLeaves, kNotNeeded };

struct Consumer {
  Output* output = nullptr;
  pid_t process = 0;
  Lock starting;
  std::atomic<State> state{State::kUnprepared};
  std::atomic<uint32_t> work{0};  // changes when there is some
  std::atomic<uint32_t> sleeps{0};
  std::atomic<uint64_t> wish{0};
  std::atomic<bool> without_main{false};
  std::atomic<Leaver> leaver{Leaver::kNone};
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
      if (consumer.state == State::kPaused && !emptying.continue_after_end()) break;  // two execs
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

// But for what is left of main's, and for ours.
bool is_last_thread() {
  char text[4096];
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t bytes = read(file, text, sizeof text - 1);
  close(file);
  text[bytes > 0 ? bytes : 0] = '\0';
  const char* threads = strstr(text, "\nThreads:");
  const long ours = own_threads;
  return threads != nullptr && strtol(threads + 9, nullptr, 10) == ours + 1;
}

// As libc does in the last thread.
[[noreturn]] void exit_as_last_thread() {
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  exit(0);
}

// Descriptors of its own, of which the program has none: whoever closes 0 and opens something gets
// 0, whatever is opened here at that moment, and whoever closes all does not close ours. Where the
// kernel cannot do that they stay common.
void take_own_descriptors(int kept) {
  const auto close_all = [](unsigned from, unsigned to, unsigned flags) {
    return syscall(SYS_close_range, from, to, flags) == 0;
  };
  if (kept <= 0) {
    close_all(0, ~0U, CLOSE_RANGE_UNSHARE);
  } else if (close_all(0, unsigned(kept) - 1, CLOSE_RANGE_UNSHARE)) {
    close_all(unsigned(kept) + 1, ~0U, 0);
  }
}

// Not the two by which libc speaks to all threads: setuid waits for an answer of each.
void let_libc_in() {
  const uint64_t blocked = ~(uint64_t{1} << 31 | uint64_t{1} << 32);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, nullptr, sizeof blocked);
}

void* run(void*) {
  is_consumer = true;
  halo_log_local.state = ThreadState::kOurs;
  let_libc_in();
  const OwnWork own;
  pthread_setname_np(pthread_self(), "halo-logging");
  take_own_descriptors(consumer.output->inherited_descriptor());
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
    if (alive && consumer.without_main && is_last_thread()) {
      finish(trace::file::Ending::kComplete, 0);
      if (consumer.leaver.exchange(Leaver::kLeaves) == Leaver::kNone) exit_as_last_thread();
      return nullptr;
    }
    if (alive) pause_until_work(seen);
  }
  consumer.leaver = Leaver::kNotNeeded;
  return nullptr;
}

// It has the program's descriptors, which destructors and buffers of stdio need; the consumer has
// not.
void* leave(void*) {
  is_consumer = true;
  let_libc_in();
  while (consumer.leaver == Leaver::kWaits) usleep(kLongestPause * 1000 / 10);
  if (consumer.leaver == Leaver::kLeaves) exit_as_last_thread();
  return nullptr;
}

// Signals are blocked, for the new thread, too.
bool start() {
  consumer.state = State::kRunning;
  const bool started = start_own_thread(run);
  if (!started) {
    halo_log_epoch.store(0);
    consumer.state = State::kEnded;
  }
  return started;
}

// Until the wish is fulfilled, or there is nobody any more who could; or `most_pauses` have passed:
// whoever reads a stream may have stopped, and a signal has to end the process all the same.
void ask(uint64_t word, int most_pauses = INT_MAX) {
  bool heard = false;
  for (int pauses = 0; pauses < most_pauses; ++pauses) {
    if (consumer.state != State::kRunning && consumer.state != State::kPaused) return;
    const uint32_t seen = consumer.answers.load();
    uint64_t none = 0;
    if (!heard) {
      heard = consumer.wish.compare_exchange_strong(none, word);
      wake_consumer();
    } else if (consumer.wish != word) {
      return;
    }
    futex_wait(consumer.answers, seen, kLongestPause);
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
  const bool by_signal = ending == trace::file::Ending::kSignal;
  ask(wish_word(Wish::kEnd, ending, detail), by_signal ? kPausesAtSignal : INT_MAX);
}

void end_trace_for_exec() {
  const KeepErrno keep;
  if (is_there()) ask(wish_word(Wish::kEndForExec));
}

void resume_trace() {
  const KeepErrno keep;
  if (is_there()) ask(wish_word(Wish::kResume));
}

void main_thread_ended() {
  const SignalsBlocked blocked;
  Leaver none = Leaver::kNone, waits = Leaver::kWaits;
  if (!is_there() || !consumer.leaver.compare_exchange_strong(none, waits)) return;
  if (!start_own_thread(leave)) consumer.leaver.compare_exchange_strong(waits, none);
  consumer.without_main = true;
}

void forget_consumer(Output* output) {
  new (&consumer) Consumer;
  own_threads = 0;
  if (output != nullptr) prepare_consumer(output);
}

}  // namespace halo::logging
