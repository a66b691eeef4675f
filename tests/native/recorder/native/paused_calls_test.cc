// Bursts go on behind system calls that may wait.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "burst_fixture.h"
#include "recorder/native/burst/burst_thread.h"

namespace halo::native {
namespace {

void ring_soon() {
  const itimerval soon{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = 20000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
}

class PausedCalls : public BurstFixture {
 protected:
  PausedCalls() { EXPECT_EQ(pipe(ends_), 0); }
  ~PausedCalls() override {
    close(ends_[0]);
    close(ends_[1]);
  }
  // Waits in a burst for a byte that does not come, until the signal of ring_soon().
  struct Waited {
    ssize_t result;
    bool active;  // behind the call
  };
  [[gnu::always_inline]] Waited wait_for_byte() {
    ring_soon();
    begin();
    char byte;
    const ssize_t result = read(ends_[0], &byte, 1);
    return {result, Bursts::is_active()};
  }
  int ends_[2] = {};
};

sigjmp_buf rescue;

// Until it is destroyed.
class Handler {
 public:
  Handler(void (*handler)(int), int flags) {
    struct sigaction action{};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(SIGALRM, &action, &before_);
  }
  ~Handler() { sigaction(SIGALRM, &before_, nullptr); }

 private:
  struct sigaction before_{};
};

TEST_F(PausedCalls, TheBurstGoesOnBehindACall) {
  int64_t numbers[2] = {7, 0};
  begin();
  const bool written = write(ends_[1], &numbers[0], sizeof(int64_t)) == sizeof(int64_t);
  const bool read_back = read(ends_[0], &numbers[1], sizeof(int64_t)) == sizeof(int64_t);
  const bool active = Bursts::is_active();
  asm volatile("incq (%0)" : : "r"(&numbers[1]) : "memory", "cc");
  const auto found = within(&numbers[1], sizeof(int64_t));
  EXPECT_TRUE(written && read_back && active);
  EXPECT_EQ(numbers[1], 8);
  EXPECT_EQ(bursts_ended, 1);
  EXPECT_GE(found.size(), 1u);
}

TEST_F(PausedCalls, ErrorsAreThoseOfTheCall) {
  char byte;
  begin();
  const ssize_t result = read(-1, &byte, 1);
  const int error = errno;
  EXPECT_EQ(result, -1);
  EXPECT_EQ(error, EBADF);
}

TEST_F(PausedCalls, SignalsArriveMeanwhileAndWaitAgainBehind) {
  static volatile int calls, paused;
  calls = 0;
  paused = 0;
  const Handler handler(
      [](int) {
        calls = calls + 1;
        paused = own_storage().active == kPaused;
      },
      SA_RESTART);
  ring_soon();
  begin();
  pollfd waits{.fd = ends_[0], .events = POLLIN, .revents = 0};
  const int result = poll(&waits, 1, 2000);
  const int error = errno;
  const bool active = Bursts::is_active();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(paused, 1);
  EXPECT_EQ(result, -1);
  EXPECT_EQ(error, EINTR);
  EXPECT_TRUE(active);
}

TEST_F(PausedCalls, CallsAreRestartedAsTheProgramWants) {
  static int wake;
  wake = ends_[1];
  const Handler handler(
      [](int) {
        const char byte = 'x';
        EXPECT_EQ(write(wake, &byte, 1), 1);
      },
      SA_RESTART);
  ring_soon();
  begin();
  char byte = 0;
  const ssize_t result = read(ends_[0], &byte, 1);
  EXPECT_EQ(result, 1);
  EXPECT_EQ(byte, 'x');
}

TEST_F(PausedCalls, AHandlerMayLeaveForGood) {
  const Handler handler([](int) { siglongjmp(rescue, 1); }, 0);
  if (sigsetjmp(rescue, 1) == 0) {
    ring_soon();
    begin();
    char byte;
    EXPECT_EQ(read(ends_[0], &byte, 1), -1) << "it waits for the signal";
  }
  EXPECT_TRUE(Bursts::is_active());
  begin();  // notices
  const bool active = own_storage().active == kInBurst;
  getppid();
  EXPECT_TRUE(active);
  EXPECT_EQ(bursts_ended, 2);
}

TEST_F(PausedCalls, AHandlersOwnBurstEndsThatOfTheCall) {
  static volatile uint64_t during;
  during = kInactive;
  const Handler handler(
      [](int) {
        pthread_kill(pthread_self(), SIGUSR2);
        during = own_storage().active;
      },
      0);
  const auto [result, active] = wait_for_byte();
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(result, -1);
  EXPECT_EQ(during, kInBurst);
  EXPECT_FALSE(active);
  EXPECT_FALSE(sigismember(&mask, SIGUSR1));
}

TEST_F(PausedCalls, TheProgramMayChangeItsSignalMask) {
  sigset_t blocked, empty, after;
  sigemptyset(&empty);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  begin();
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  const bool active = Bursts::is_active();
  getppid();
  pthread_sigmask(SIG_SETMASK, &empty, &after);
  EXPECT_TRUE(active);
  EXPECT_TRUE(sigismember(&after, SIGUSR1));
  EXPECT_FALSE(sigismember(&after, SIGHUP));
}

TEST_F(PausedCalls, AProcessForkedByAHandlerRunsNatively) {
  static volatile pid_t child;
  const Handler handler(
      [](int) {
        child = fork();
        if (child == 0) bursts.after_fork();
      },
      0);
  const auto [result, active] = wait_for_byte();
  if (child == 0) _exit(active || result != -1 ? 1 : 0);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(active);
}

TEST_F(PausedCalls, CodeMayBeForgottenMeanwhile) {
  const Handler handler([](int) { bursts.forget(); }, 0);
  const auto [result, active] = wait_for_byte();
  EXPECT_EQ(result, -1);
  EXPECT_FALSE(active);
}

TEST_F(PausedCalls, AThreadLeavesOneForItsOwnPlace) {
  static int wake;
  wake = ends_[1];
  struct sigaction leave{}, before{};
  leave.sa_flags = SA_SIGINFO | SA_RESTART;
  leave.sa_sigaction = [](int, siginfo_t*, void* context) {
    bursts.leave_call(*static_cast<ucontext_t*>(context));
    own_storage().thread->is_over = false;  // for the tests behind this one
    const char byte = 'x';
    EXPECT_EQ(write(wake, &byte, 1), 1);
  };
  sigaction(SIGALRM, &leave, &before);
  ring_soon();
  begin();
  char byte = 0;
  const ssize_t result = read(ends_[0], &byte, 1);
  const bool active = Bursts::is_active();
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(result, 1);
  EXPECT_EQ(byte, 'x');
  EXPECT_FALSE(active);
  EXPECT_EQ(bursts_ended, 1);
}

TEST_F(PausedCalls, ATimersSignalDoesNotEndThem) {
  const Handler handler([](int) {}, 0);
  struct sigaction again{};
  again.sa_flags = SA_SIGINFO;
  again.sa_sigaction = [](int, siginfo_t*, void* context) {
    bursts.make_call_again(*static_cast<ucontext_t*>(context));
  };
  sigaction(SIGALRM, &again, nullptr);
  ring_soon();
  pollfd waits{.fd = ends_[0], .events = POLLIN, .revents = 0};
  begin();
  const int result = poll(&waits, 1, 100);
  const bool active = Bursts::is_active();
  EXPECT_EQ(result, 0) << "it was made again, to its end";
  EXPECT_TRUE(active);
}

TEST_F(PausedCalls, TheyCanBeSwitchedOff) {
  bursts.set_pausing(false);
  const char byte = 'x';
  begin();
  const ssize_t result = write(ends_[1], &byte, 1);
  const bool active = Bursts::is_active();
  bursts.set_pausing(true);
  EXPECT_EQ(result, 1);
  EXPECT_FALSE(active);
}

}  // namespace
}  // namespace halo::native
