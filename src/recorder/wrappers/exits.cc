#include "recorder/wrappers/exits.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/old_c_library.h"
#include "recorder/wrappers/wrapper.h"

namespace {

using Exit = void (*)(int);
using Leave = void (*)();

constinit Exit next_exit = nullptr;
constinit Leave leave_process = nullptr;

// Early: signal handlers and forked children call _exit, and dlsym there may wait for a lock.
__attribute__((constructor)) void look_up() {
  next_exit = reinterpret_cast<Exit>(halo::find_symbol(RTLD_NEXT, "_exit"));
}

}  // namespace

HALO_EXPORT __attribute__((noreturn)) void _exit(int status) {
  if (leave_process != nullptr) leave_process();
  if (next_exit != nullptr) next_exit(status);
  for (;;) syscall(SYS_exit_group, status);  // before the library's constructors have run
}
HALO_EXPORT __attribute__((noreturn)) void _Exit(int status) { _exit(status); }

namespace halo::interpose {

void watch_exits(void (*leave)()) {
  look_up();
  leave_process = leave;
}

}  // namespace halo::interpose
