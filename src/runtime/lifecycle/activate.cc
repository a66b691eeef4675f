// Starts the runtime in a process: reads the plan, finds the modules, opens the arena; writes
// statistics at its end.
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "base/keep_errno.h"
#include "base/old_c_library.h"
#include "plan/plan_file.h"
#include "runtime/accounting/next_statistics.h"
#include "runtime/base/active_plan.h"
#include "runtime/base/diagnosis.h"
#include "runtime/base/next.h"
#include "runtime/code/alignment.h"
#include "runtime/code/generated_code.h"
#include "runtime/diagnose/stats.h"
#include "runtime/entry/allocators/interface.h"
#include "runtime/extra.h"
#include "runtime/identify/walk_counts.h"
#include "runtime/lifecycle/detach.h"
#include "runtime/lifecycle/plan_variable.h"
#include "runtime/lifecycle/settings.h"
#include "runtime/modules/loader.h"
#include "runtime/modules/module_changes.h"
#include "runtime/modules/modules.h"
#include "runtime/modules/taken_calls.h"
#include "runtime/pages/arena.h"
#include "runtime/serve/global_policy.h"
#include "runtime/serve/grouped.h"

namespace halo::runtime {

namespace {

// Copied: programs overwrite their environment to change the output of ps.
constinit char stats_path[4096]{};
constinit pid_t stats_owner = 0;
constinit const char* inactive_reason = "no plan was given";

// Writes one line by one write: stdio may not be initialised, or belong to the program.
void report_error(const char* sentence, const char* path) {
  char line[1024];
  const int n =
      snprintf(line, sizeof line, "halo: %s (%s); every allocation is forwarded\n", sentence, path);
  if (n > 0 &&
      write(STDERR_FILENO, line,
            static_cast<size_t>(n) < sizeof line ? static_cast<size_t>(n) : sizeof line - 1) < 0)
    return;
}

bool wants_stats() { return stats_path[0] != '\0'; }

// The kind of identification, as a human-readable string.
const char* identification() {
  if (active_plan.header == nullptr) return "none";
  if (active_plan.draws_pools()) return active_plan.groups.size() == 1 ? "none needed" : "random";
  return active_plan.selects() ? "selectors" : "walk";
}

// `taker`: the library that has taken the calls of the plan's modules; null if none has.
void report(const char* taker) {
  const auto groups = static_cast<uint32_t>(active_plan.groups.size());
  // Modules may have been loaded since.
  const char* reason = arena.bytes() != 0 ? nullptr : inactive_reason;
  write_stats(stats_path, {reason, identification(), taker}, groups);
}

void report_at_signal(int) {
  const KeepErrno keep;
  report(nullptr);  // another thread may hold the lock of the linker's list
}

// Handles the signal only if it has no other handler.
void report_at(int signal) {
  struct sigaction old;
  if (signal <= 0 || sigaction(signal, nullptr, &old) != 0 || old.sa_handler != SIG_DFL) return;
  struct sigaction action{};
  action.sa_handler = report_at_signal;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

// The end of the calling thread's stack; 0 if it is not the first thread.
uintptr_t main_stack_end() {
  const auto* end = static_cast<const uintptr_t*>(find_symbol(RTLD_DEFAULT, "__libc_stack_end"));
  return end != nullptr && thread_id() == getpid() ? *end : 0;
}

// Blocks of the table and of pools; selectors read the alignment each time.
void align_later_blocks() {
  if (follows_modules()) align_table_to_16();
  align_pools(true);
}

// A module was loaded: the plan's alignment proof may not cover it.
void keep_alignment(const dl_phdr_info& module) {
  if (!aligns_all_to_16() && !check_alignment_of(module)) align_later_blocks();
}

// The plan's alignment proof does not cover code that the program generates.
void keep_alignment_for_generated_code() {
  if (aligns_all_to_16()) return;
  align_all_to_16(kProgramGeneratesCode);
  align_later_blocks();
}

// At the end of the start, so that no structure is aligned while it is made.
void watch_generated_code() {
  if (aligns_all_to_16()) return;
  set_code_listener(keep_alignment_for_generated_code);
  if (generates_code()) keep_alignment_for_generated_code();
}

// Starts a plan that does not use callers.
bool begin_pools() {
  if (!open_groups()) {
    inactive_reason = "there is no room for the groups";
    return false;
  }
  align_pools(active_plan.states[0].alignment == 16 || aligns_all_to_16());
  // Modules matter only while blocks depend on their alignment proof.
  if (!aligns_all_to_16()) {
    watch_modules();
    publish_table();
  }
  begin_spans();
  if (active_plan.groups.size() == 1)
    set_one_group_policy();
  else
    set_random_pools_policy(static_cast<uint32_t>(active_plan.groups.size()));
  return true;
}

// glibc's malloc initialises itself at its first allocation, without locks: normally inside the
// first pthread_create, before the thread runs. A plan may group that allocation, and threads would
// then initialise concurrently.
void initialise_next_allocator() {
  const KeepErrno keep;
  next.free(next.malloc(1));
}

// Returns nullptr, or one sentence that says why the plan is refused.
const char* read_plan(const char* path) {
  plan::PlanView found;
  if (const char* problem = plan::load_plan(path, found)) return problem;
  if (!kHasExtra && needs_extra(found)) return "the plan needs libhalo-extra.so";
  active_plan = found;
  return nullptr;
}

// Whether any allocation of this process may ever be grouped.
bool begin(const Settings& settings) {
  if (settings.plan == nullptr) return false;
  if (const char* problem = read_plan(settings.plan)) {
    inactive_reason = problem;
    report_error(problem, settings.plan);
    hide_plan_from_children();
    return false;
  }
  name_plan_to_children(settings.plan);
  if (active_plan.groups.empty()) {
    inactive_reason = "the plan has no groups";
    return false;
  }
  // Not an error: a child process, for example.
  if (const Match found = match_program(); found != Match::kYes) {
    inactive_reason = found == Match::kNo
                          ? "the plan is for another program, or another build of it"
                          : "the plan is for another program with this build-id";
    return false;
  }
  if (programs_allocator.malloc != nullptr) {
    inactive_reason = "the program has a malloc of its own";
    return false;
  }
  if (wants_stats()) {
    report_at(settings.stats_signal);
    keeping_stats = true;
    counting_all = settings.stats_counts;
  }
  max_object = active_plan.header->max_object;
  fast_max = counting_all ? 0 : max_object;
  fast_direct_max = std::min<uint64_t>(fast_max, kMaxDirect);
  initialise_next_allocator();
  if (!replace_interfaces()) {
    inactive_reason = "the next allocator's own functions cannot be replaced";
    return false;
  }
  next_statistics();
  begin_alignment(generates_code());
  set_loaded_listener(keep_alignment);
  forbid_deep_binding();
  if (active_plan.draws_pools()) return begin_pools();
  if (const uintptr_t end = main_stack_end(); end != 0) set_main_stack_end(end);
  if (active_plan.selects()) begin_selectors(main_stack_end());
  begin_spans();
  watch_modules();
  inactive_reason = publish_table() != 0
                        ? nullptr
                        : "no module of the plan is loaded, or there is no room for the groups";
  if (active_plan.selects()) set_selectors_policy();
  return true;
}

__attribute__((constructor(101))) void activate() {
  resolve_next();
  find_mapping_functions();
  const Settings settings = read_settings();
  stats_owner = getpid();
  if (settings.stats != nullptr) snprintf(stats_path, sizeof stats_path, "%s", settings.stats);
  if (begin(settings))
    watch_generated_code();
  else
    detach();
}

__attribute__((destructor)) void finish() {
  if (!wants_stats()) return;  // without a system call: a filter may kill for it
  // A forked child must not overwrite its parent's report.
  const bool own = getpid() == stats_owner || strstr(stats_path, "%p") != nullptr;
  if (own || is_human_readable(stats_path)) report(follows_modules() ? taker_of_calls() : nullptr);
}

}  // namespace
}  // namespace halo::runtime
