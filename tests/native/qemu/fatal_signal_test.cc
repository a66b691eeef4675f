// The hook, installed in this executable instead of QEMU's; the tests are linked for lazy binding.
#include "qemu/fatal_signal.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace halo::qemu {
namespace {

// The child's status, after its first stop if it stops.
template <class InChild>
int status_of(InChild&& in_child) {
  const pid_t child = fork();
  if (child == 0) {
    in_child();
    _exit(1);
  }
  int status = -1;
  waitpid(child, &status, WUNTRACED);
  if (WIFSTOPPED(status)) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  return status;
}

void hook_with_exit() {
  if (!call_before_fatal_signal([] { _exit(7); })) _exit(2);
}

TEST(FatalSignal, TheActionRunsBeforeTheKill) {
  const int status = status_of([] {
    hook_with_exit();
    kill(getpid(), SIGTERM);
  });
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(FatalSignal, NotBeforeAStopNorForOtherProcesses) {
  const int status = status_of([] {
    hook_with_exit();
    kill(getppid(), 0);
    kill(getpid(), SIGSTOP);
  });
  EXPECT_TRUE(WIFSTOPPED(status)) << status;
}

TEST(FatalSignal, FunctionsThatAreBoundLaterStillCanBe) {
  const int status = status_of([] {
    hook_with_exit();
    endgrent();  // called nowhere else
    _exit(0);
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace halo::qemu
