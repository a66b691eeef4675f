// libhalo-detector.so: counts the sizes of a program's allocations and writes detector.out
// (littering, "Detection").
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "base/no_destructor.h"
#include "base/output_path.h"
#include "recorder/wrappers/ending_signals.h"
#include "recorder/wrappers/exits.h"
#include "recorder/wrappers/listener.h"
#include "recorder/wrappers/wrapper.h"
#include "studies/litter/detection.h"
#include "studies/litter/groups.h"
#include "studies/litter/own_program.h"

// The library is compiled with -ffixed-rbp: identification needs the program's rbp.
namespace halo::litter {

namespace {

constexpr const char* kDefaultPath = "detector.out";

constinit NoDestructor<Detection> holder;
constexpr Detection& kDetection = holder.object;
constinit Groups groups;
constinit char output_path[4096]{};  // copied: programs change their environment and directory
constinit char program_path[PATH_MAX]{};
constinit bool counting = false;

void leave_detection() {
  if (!counting) return;
  const KeepErrno keep;
  if (kDetection.write(output_path, program_path)) return;
  dprintf(STDERR_FILENO, "halo: the detector could not write %s\n", output_path);
}

void find_output() {
  const char* requested = value_of("HALO_DETECTOR_FILENAME");
  if (requested == nullptr) requested = kDefaultPath;
  make_absolute(requested, output_path);
}

// Late: this library's destructors run after the program's.
__attribute__((destructor)) void finish() { leave_detection(); }

__attribute__((constructor)) void begin() {
  interpose::next_allocator();  // starts counting if the program has not allocated yet
  if (!counting) return;
  kDetection.map_groups(groups.number());  // the runtime's constructor ran before this one
  // The usual signals for ending programs.
  static constexpr int kSignals[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM};
  interpose::watch_ending_signals(kSignals, [](int) { leave_detection(); });
  at_quick_exit(leave_detection);
}

void begin_detection() {
  interpose::watch_exits(leave_detection);
  const OwnProgram own;
  if (!own.is_meant_by("HALO_DETECTOR_PROGRAM")) return;
  snprintf(program_path, sizeof program_path, "%s", own.path());
  find_output();
  groups = find_groups();
  counting = kDetection.open();
}

void count_alloc(void*, size_t size, uint64_t slot) {
  if (!counting) return;
  int32_t group = -1;
  if (groups.group_of_request != nullptr) {
    uintptr_t rbp;
    __asm__ volatile("mov %%rbp, %0" : "=r"(rbp));
    group = groups.group_of_request(size, reinterpret_cast<const uintptr_t*>(slot), rbp);
  }
  kDetection.allocated(size, group);
}

void count_aligned(void*, size_t size, uint64_t) {
  if (counting) kDetection.allocated(size, -1);  // the runtime forwards it
}

void count_free(void*) {
  if (counting) kDetection.freed();
}

void count_revived(void*) {
  if (counting) kDetection.revived();
}

}  // namespace

}  // namespace halo::litter

constinit const halo::interpose::Listener halo::interpose::kListener{
    .begin = litter::begin_detection,
    .alloc = litter::count_alloc,
    .aligned = litter::count_aligned,
    .reallocated = litter::count_alloc,
    .free = litter::count_free,
    .revive = litter::count_revived,
};
