// Start and end of the runtime in a process: read the plan, find the modules, open the arena.
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "base/keep_errno.h"
#include "plan/plan_file.h"
#include "runtime/active_sites.h"
#include "runtime/alignment.h"
#include "runtime/arena.h"
#include "runtime/detach.h"
#include "runtime/every.h"
#include "runtime/grouped.h"
#include "runtime/loader.h"
#include "runtime/module_changes.h"
#include "runtime/modules.h"
#include "runtime/next.h"
#include "runtime/plan_variable.h"
#include "runtime/random_pools.h"
#include "runtime/selectors.h"
#include "runtime/settings.h"
#include "runtime/stats.h"
#include "runtime/walk_counts.h"

namespace halo::runtime {

namespace {

constinit plan::PlanView plan_view;
// Copied: programs overwrite their environment to change what ps shows.
constinit char stats_path[4096]{};
constinit pid_t stats_owner = 0;
constinit const char* inactive_reason = "no plan was given";

// One line, written at once: stdio may not be set up, or belong to the program.
void complain(const char* sentence, const char* path) {
  char line[1024];
  const int n =
      snprintf(line, sizeof line, "halo: %s (%s); every allocation is forwarded\n", sentence, path);
  if (n > 0 && write(STDERR_FILENO, line,
                     static_cast<std::size_t>(n) < sizeof line ? static_cast<std::size_t>(n)
                                                               : sizeof line - 1) < 0)
    return;
}

bool wants_stats() { return stats_path[0] != '\0'; }

// What tells the groups apart, for people.
const char* identification() {
  if (plan_view.header == nullptr) return "none";
  if (plan_view.draws_pools()) return plan_view.groups.size() == 1 ? "none needed" : "random";
  return plan_view.selects() ? "selectors" : "walk";
}

void report() {
  // Modules may have come later.
  const char* reason = arena.bytes() != 0 ? nullptr : inactive_reason;
  write_stats(stats_path, reason, static_cast<std::uint32_t>(plan_view.groups.size()),
              identification());
}

void report_at_signal(int) {
  const KeepErrno keep;
  report();
}

// Only a signal that nobody handles is taken.
void report_at(int signal) {
  struct sigaction old;
  if (signal <= 0 || sigaction(signal, nullptr, &old) != 0 || old.sa_handler != SIG_DFL) return;
  struct sigaction action{};
  action.sa_handler = report_at_signal;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

// Of the calling thread; 0 where it is not the first.
std::uintptr_t main_stack_end() {
  const auto* end = static_cast<const std::uintptr_t*>(dlsym(RTLD_DEFAULT, "__libc_stack_end"));
  return end != nullptr && gettid() == getpid() ? *end : 0;
}

// A plan whose selectors ask which redirected calls are under way.
void begin_selecting() {
  configure_selectors(plan_view);
  if (const std::uintptr_t end = main_stack_end(); end != 0) know_main_stack(end);
  tell_places(redirect_module);
}

// A module has come: what the plan has proved may not hold with it.
void keep_alignment(const dl_phdr_info& module) {
  if (aligns_all_to_16() || check_alignment_of(module)) return;
  align_table_to_16();
  align_random_pools_to_16();
}

// A plan that looks at no callers.
bool begin_drawing() {
  if (!open_groups(plan_view)) {
    inactive_reason = "there is no room for the groups";
    return false;
  }
  configure_random_pools(static_cast<std::uint32_t>(plan_view.groups.size()),
                         plan_view.states[0].alignment == 16 || aligns_all_to_16());
  // The modules only matter while blocks depend on them.
  if (!aligns_all_to_16()) {
    watch_modules();
    publish_table(plan_view);
  }
  if (plan_view.groups.size() == 1)
    group_every_allocation();
  else
    draw_every_allocation();
  return true;
}

// glibc's malloc sets itself up at its first allocation, without locks: the first pthread_create
// makes one before the thread runs. A plan may group that, and threads would then set up at once.
void let_next_allocator_begin() {
  const KeepErrno keep;
  next.free(next.malloc(1));
}

// Whether any allocation of this process may ever be grouped.
bool begin(const Settings& settings) {
  if (settings.plan == nullptr) return false;
  if (const char* problem = plan::load_plan(settings.plan, plan_view)) {
    inactive_reason = problem;
    complain(problem, settings.plan);
    hide_plan_from_children();
    return false;
  }
  name_plan_to_children(settings.plan);
  if (plan_view.groups.empty()) {
    inactive_reason = "the plan has no groups";
    return false;
  }
  // A child process, say: no fault.
  if (!is_for_this_program(plan_view)) {
    inactive_reason = "the plan is for another program";
    return false;
  }
  if (wants_stats()) {
    report_at(settings.stats_signal);
    keeping_stats = true;
    counting_all = settings.stats_counts;
  }
  max_object = plan_view.header->max_object;
  quick_max = counting_all ? 0 : max_object;
  quick_direct = std::min<std::uint64_t>(quick_max, most_direct);
  let_next_allocator_begin();
  begin_alignment(plan_view);
  tell_loaded_modules(keep_alignment);
  forbid_deep_binding();
  if (plan_view.draws_pools()) return begin_drawing();
  if (const std::uintptr_t end = main_stack_end(); end != 0) know_main_stack_end(end);
  if (plan_view.selects()) begin_selecting();
  watch_modules();
  inactive_reason = publish_table(plan_view) != 0
                        ? nullptr
                        : "no module of the plan is loaded, or there is no room for the groups";
  if (plan_view.selects()) select_every_allocation();
  return true;
}

__attribute__((constructor(101))) void activate() {
  resolve_next();
  const Settings settings = read_settings();
  stats_owner = getpid();
  if (settings.stats != nullptr) snprintf(stats_path, sizeof stats_path, "%s", settings.stats);
  if (!begin(settings)) detach();
}

__attribute__((destructor)) void finish() {
  // A forked child must not write over its parent's report.
  const bool own = getpid() == stats_owner || strstr(stats_path, "%p") != nullptr;
  if (wants_stats() && (own || is_for_people(stats_path))) report();
}

}  // namespace
}  // namespace halo::runtime
