// halo-effects: whether two runs of a program at the same time would disturb each other.
//
//   halo-effects FILE PROGRAM NAME [ARGS]   runs PROGRAM with argv NAME ARGS
//
// Writes JSON to FILE: `effect`, the first system call of the program or a descendant that another
// run could see, or that could not be stopped with the program, and is empty if there is none;
// `status`, its exit status, or the number of the signal that killed it, negative; and `created`,
// the files that they created (syscall_filter.h). Exit status: 0 the program has ended, in whatever
// way; 1 it could not be watched or FILE not be written; 2 wrong usage.
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/json/writer.h"
#include "base/tool.h"
#include "recorder/effects/syscall_filter.h"

namespace {

using halo::JsonWriter;
using halo::ToolStatus;

constexpr long kOptions = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                          PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
constexpr int kNotStarted = 127;

// Waits for the byte that says that it is traced. Does not return.
[[noreturn]] void become(char** words, int traced, int other_end) {
  close(other_end);
  char byte = 0;
  if (read(traced, &byte, 1) == 1 && halo::effects::install_filter()) execv(words[0], words + 1);
  _exit(kNotStarted);
}

bool stops_a_group(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

using halo::effects::Effects;

// Lets a stopped process go on; adds the effect of the call that it is about to make.
void go_on(pid_t process, int status, Effects& effects) {
  const int signal = WSTOPSIG(status);
  const int event = status >> 16;
  if (event == PTRACE_EVENT_STOP && stops_a_group(signal)) {
    ptrace(PTRACE_LISTEN, process, nullptr, nullptr);
    return;
  }
  if (event == PTRACE_EVENT_SECCOMP) {
    user_regs_struct registers{};
    if (ptrace(PTRACE_GETREGS, process, nullptr, &registers) == 0) effects.add(process, registers);
  }
  ptrace(PTRACE_CONT, process, nullptr, event == 0 ? signal : 0);
}

struct Watched {
  Effects effects;
  int status;  // of the program; negative: the signal that killed it
};

// Until the program ends. Descendants that live on end with this process.
Watched watch(pid_t program) {
  Effects found;
  int status = 0;
  for (pid_t process = waitpid(-1, &status, __WALL); process != -1;
       process = waitpid(-1, &status, __WALL)) {
    if (WIFSTOPPED(status)) {
      go_on(process, status, found);
    } else if (process == program) {
      break;
    }
  }
  return {found, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)};
}

ToolStatus run(const char* file, char** words) {
  FILE* out = fopen(file, "we");
  int ends[2];
  if (out == nullptr || pipe2(ends, O_CLOEXEC) != 0) return ToolStatus::kCannotWork;
  const pid_t program = fork();
  if (program == 0) become(words, ends[0], ends[1]);
  const bool traced = program > 0 && ptrace(PTRACE_SEIZE, program, nullptr, kOptions) == 0;
  if (traced && write(ends[1], "", 1) != 1) return ToolStatus::kCannotWork;
  close(ends[0]);
  close(ends[1]);
  if (!traced) {
    fprintf(stderr, "halo-effects: the kernel does not permit to trace a program here\n");
    return ToolStatus::kCannotWork;
  }
  const auto [found, status] = watch(program);
  JsonWriter json(out);
  json.value([&] {
    json.field("effect", std::string_view(found.first()));
    json.field("status", status);
    json.list("created", found.created(), [&](const std::string& path) { json.value(path); });
  });
  return fclose(out) == 0 ? ToolStatus::kDone : ToolStatus::kCannotWork;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: halo-effects FILE PROGRAM NAME [ARGS]\n");
    return int(ToolStatus::kUsage);
  }
  return halo::run_tool("halo-effects", [&] { return run(argv[1], argv + 2); });
}
