// The consumer's thread and the requests to it.
#include "tracing/library/consumer.h"

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
#include "base/no_destructor.h"
#include "base/signals_blocked.h"
#include "recorder/events/epoch_merge.h"
#include "tracing/library/emptying.h"
#include "tracing/library/futex.h"
#include "tracing/library/own_thread.h"
#include "tracing/library/producer.h"
#include "tracing/library/reentrancy_guard.h"

namespace halo::logging {

namespace {

constexpr int64_t kMaxPause = 100;       // milliseconds
constexpr int kMaxPausesAtSignal = 100;  // at least ten seconds without a reply

enum class Request : uint32_t { kNone, kEnd, kEndForExec, kResume };
// A request and its arguments in one word; the first request wins.
constexpr uint64_t request_word(Request request, trace::Ending ending = {}, uint32_t detail = 0) {
  return uint64_t(request) | uint64_t(ending) << 8 | uint64_t(detail) << 32;
}
enum class State : uint32_t {
  kUnprepared,
  kPrepared,  // no event was logged yet
  kRunning,
  kPaused,  // an end is written, in case the exec succeeds
  kEnded,
};

// The thread that ends the process if main has ended before it.
enum class Leaver : uint32_t { kNone, kWaits, kLeaves, kNotNeeded };

struct Consumer {
  Output* output = nullptr;
  pid_t process = 0;
  Lock starting;
  std::atomic<State> state{State::kUnprepared};
  std::atomic<uint32_t> work{0};  // incremented when there is work
  std::atomic<uint32_t> sleeps{0};
  std::atomic<uint64_t> request{0};
  std::atomic<bool> without_main{false};
  std::atomic<Leaver> leaver{Leaver::kNone};
  std::atomic<uint32_t> replies{0};  // incremented when a request is completed
};

constinit Consumer consumer;
constinit NoDestructor<Emptying> storage;
constexpr Emptying& kEmptying = storage.object;
__thread bool is_consumer __attribute__((tls_model("initial-exec")));

void finish(trace::Ending ending, uint32_t detail) {
  halo_log_epoch.store(0);
  kEmptying.round(~uint64_t{0}, true);
  kEmptying.end(ending, detail);
  consumer.state = State::kEnded;
}

// Returns false if no work is left.
bool complete(uint64_t word) {
  switch (Request(word & 0xff)) {
    case Request::kNone:
      return true;
    case Request::kEnd:
      if (consumer.state == State::kPaused) kEmptying.continue_after_end();
      finish(trace::Ending(word >> 8 & 0xff), uint32_t(word >> 32));
      break;
    case Request::kEndForExec:
      if (consumer.state == State::kPaused && !kEmptying.continue_after_end())
        break;  // two
                // concurrent
                // execs
      kEmptying.round(events::owner_key(advance_epoch()), false);
      kEmptying.end(trace::Ending::kExec, 0);
      consumer.state = State::kPaused;
      break;
    case Request::kResume:
      if (kEmptying.continue_after_end()) {
        consumer.state = State::kRunning;
      } else {
        halo_log_epoch.store(0);
        consumer.state = State::kEnded;
      }
      break;
  }
  consumer.request = 0;
  consumer.replies.fetch_add(1);
  futex_wake_all(consumer.replies);
  return consumer.state != State::kEnded;
}

void pause_until_work(uint32_t seen) {
  consumer.sleeps.store(1);
  if (consumer.work.load() == seen && consumer.request.load() == 0)
    futex_wait(consumer.work, seen, kMaxPause);
  consumer.sleeps.store(0);
}

// Not counting what is left of the main thread, and the library's own threads.
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

// Like libc in the last thread.
[[noreturn]] void exit_as_last_thread() {
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  exit(0);
}

// Unshares the descriptor table and closes the program's descriptors. A program that closes 0
// expects its next open to return 0, even if the consumer opens a file at that moment. A program
// that closes all descriptors must not close the consumer's. If the kernel lacks close_range, the
// table stays shared.
void unshare_descriptors(int kept) {
  const auto close_all = [](unsigned from, unsigned to, unsigned flags) {
    return syscall(SYS_close_range, from, to, flags) == 0;
  };
  if (kept <= 0) {
    close_all(0, ~0U, CLOSE_RANGE_UNSHARE);
  } else if (close_all(0, unsigned(kept) - 1, CLOSE_RANGE_UNSHARE)) {
    close_all(unsigned(kept) + 1, ~0U, 0);
  }
}

// Unblocks the two signals that libc sends to all threads: setuid waits for a reply of each.
void unblock_libc_signals() {
  const uint64_t blocked = ~(uint64_t{1} << 31 | uint64_t{1} << 32);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, nullptr, sizeof blocked);
}

void* run(void*) {
  is_consumer = true;
  halo_log_local.state = ThreadState::kOurs;
  unblock_libc_signals();
  const ReentrancyGuard own;
  pthread_setname_np(pthread_self(), "halo-logging");
  unshare_descriptors(consumer.output->inherited_descriptor());
  bool alive = kEmptying.begin(consumer.output);
  if (!alive) {
    halo_log_epoch.store(0);
    consumer.state = State::kEnded;
    consumer.replies.fetch_add(1);
    futex_wake_all(consumer.replies);
  }
  while (alive) {
    const uint32_t seen = consumer.work.load();
    if (consumer.state == State::kRunning) {
      kEmptying.round(events::owner_key(advance_epoch()), false);
      if (kEmptying.failed()) finish(trace::Ending::kNoSpace, kEmptying.error());
    }
    alive = complete(consumer.request.load()) && consumer.state != State::kEnded;
    if (alive && consumer.without_main && is_last_thread()) {
      finish(trace::Ending::kComplete, 0);
      if (consumer.leaver.exchange(Leaver::kLeaves) == Leaver::kNone) exit_as_last_thread();
      return nullptr;
    }
    if (alive) pause_until_work(seen);
  }
  consumer.output->stop();
  consumer.leaver = Leaver::kNotNeeded;
  return nullptr;
}

// Unlike the consumer, this thread has the program's descriptors, which destructors and stdio
// buffers need.
void* leave(void*) {
  is_consumer = true;
  unblock_libc_signals();
  while (consumer.leaver == Leaver::kWaits) usleep(kMaxPause * 1000 / 10);
  if (consumer.leaver == Leaver::kLeaves) exit_as_last_thread();
  return nullptr;
}

// Signals must be blocked; the new thread inherits that.
bool start() {
  consumer.state = State::kRunning;
  const bool started = start_own_thread(run);
  if (!started) {
    halo_log_epoch.store(0);
    consumer.state = State::kEnded;
  }
  return started;
}

// Waits until the request is completed or the consumer has ended. `max_pauses` limits the wait of
// signal handlers: the reader of a stream may have stopped, and the signal must still end the
// process.
void send_request(uint64_t word, int max_pauses = INT_MAX) {
  bool accepted = false;
  for (int pauses = 0; pauses < max_pauses; ++pauses) {
    if (consumer.state != State::kRunning && consumer.state != State::kPaused) return;
    const uint32_t seen = consumer.replies.load();
    uint64_t none = 0;
    if (!accepted) {
      accepted = consumer.request.compare_exchange_strong(none, word);
      wake_consumer();
    } else if (consumer.request != word) {
      return;
    }
    futex_wait(consumer.replies, seen, kMaxPause);
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

void end_trace(trace::Ending ending, uint32_t detail) {
  const KeepErrno keep;
  if (!is_there()) return;
  const bool by_signal = ending == trace::Ending::kSignal;
  send_request(request_word(Request::kEnd, ending, detail),
               by_signal ? kMaxPausesAtSignal : INT_MAX);
}

void end_trace_for_exec() {
  const KeepErrno keep;
  if (is_there()) send_request(request_word(Request::kEndForExec));
}

void resume_trace() {
  const KeepErrno keep;
  if (is_there()) send_request(request_word(Request::kResume));
}

void main_thread_ended() {
  const SignalsBlocked blocked;
  Leaver none = Leaver::kNone, waits = Leaver::kWaits;
  if (!is_there() || !consumer.leaver.compare_exchange_strong(none, waits)) return;
  if (!start_own_thread(leave)) consumer.leaver.compare_exchange_strong(waits, none);
  consumer.without_main = true;
}

void reset_consumer(Output* output) {
  new (&consumer) Consumer;
  own_threads = 0;
  if (output != nullptr) prepare_consumer(output);
}

}  // namespace halo::logging
