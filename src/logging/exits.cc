// Ways out of a process that run no destructors: _exit, _Exit and quick_exit.
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "logging/consumer.h"
#include "record/guest/wrapper.h"

namespace {

using Exit = void (*)(int);

// Early: signal handlers and forked children call _exit, where dlsym may wait for a lock.
constinit Exit next_exit = nullptr;

__attribute__((constructor)) void look_up() {
  next_exit = reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "_exit"));
}

}  // namespace

HALO_EXPORT [[noreturn]] void _exit(int status) {
  halo::logging::end_trace(halo::trace::file::Ending::kComplete, 0);
  if (next_exit != nullptr) next_exit(status);
  for (;;) syscall(SYS_exit_group, status);  // before the library has begun
}
HALO_EXPORT [[noreturn]] void _Exit(int status) { _exit(status); }
