// libdetector.so: counts the sizes of a program's allocations and leaves detector.out (littering,
// "Detection"). The wrappers are those of the recorder's guest library; this is who listens.
//
// All of the library is compiled so that rbp is the program's: identification needs it.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "base/lasting.h"
#include "litter/absolute_path.h"
#include "litter/detection.h"
#include "litter/groups.h"
#include "litter/own_program.h"
#include "record/guest/ending_signals.h"
#include "record/guest/report.h"
#include "record/guest/wrapper.h"

namespace halo::litter {

namespace {

constexpr const char* default_path = "detector.out";

constinit Lasting<Detection> lasting;
constexpr Detection& detection = lasting.object;
constinit Groups groups;
constinit char output_path[4096]{};  // copied: programs change their environment and folder
constinit char program_path[PATH_MAX]{};
constinit bool counting = false;

// Looked up early: signal handlers and forked children call _exit, where dlsym may wait for a lock.
using Exit = void (*)(int);
constinit Exit next_exit = nullptr;

void leave_detection() {
  if (!counting) return;
  const KeepErrno keep;
  if (detection.write(output_path, program_path)) return;
  dprintf(STDERR_FILENO, "halo: the detector could not write %s\n", output_path);
}

void find_output() {
  const char* asked = getenv("DETECTOR_FILENAME");
  if (asked == nullptr || *asked == '\0') asked = default_path;
  make_absolute(asked, output_path);
}

// Last of all that a program does: of its destructors this library's run late.
__attribute__((destructor)) void finish() { leave_detection(); }

__attribute__((constructor)) void begin() {
  record::guest::next_allocator();  // begins to listen, where the program has not allocated yet
  if (!counting) return;
  detection.tell_groups_apart(groups.number());  // the runtime's constructor ran before this one
  // By which people end programs.
  static constexpr int signals[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM};
  record::guest::watch_ending_signals(signals, [](int) { leave_detection(); });
  at_quick_exit(leave_detection);
}

}  // namespace

}  // namespace halo::litter

namespace halo::record::guest {

using namespace halo::litter;

void begin_listening() {
  next_exit = reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "_exit"));
  const OwnProgram own;
  if (!own.is_meant_by("DETECTOR_PROGRAM")) return;
  snprintf(program_path, sizeof program_path, "%s", own.path());
  find_output();
  groups = find_groups();
  counting = detection.open();
}

void report_alloc(void* address, size_t size, uint64_t slot) {
  if (address == nullptr || !counting) return;
  std::int32_t group = -1;
  if (groups.group_of_request != nullptr) {
    std::uintptr_t rbp;
    __asm__ volatile("mov %%rbp, %0" : "=r"(rbp));
    group = groups.group_of_request(size, reinterpret_cast<const std::uintptr_t*>(slot), rbp);
  }
  detection.allocated(size, group);
}

void report_aligned(void* address, size_t size, uint64_t) {
  if (address != nullptr && counting) detection.allocated(size, -1);  // the runtime forwards it
}

void report_free(void* address) {
  if (address != nullptr && counting) detection.freed();
}

void report_revive(void* address) {
  if (address != nullptr && counting) detection.revived();
}

}  // namespace halo::record::guest

// Programs that leave without running destructors.
HALO_EXPORT [[noreturn]] void _exit(int status) {
  halo::litter::leave_detection();
  if (halo::litter::next_exit != nullptr) halo::litter::next_exit(status);
  for (;;) syscall(SYS_exit_group, status);  // before the library has begun
}
HALO_EXPORT [[noreturn]] void _Exit(int status) { _exit(status); }
