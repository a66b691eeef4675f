// Start and end of the runtime in a process: read the plan, find the modules, open the arena.
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "plan/plan_file.h"
#include "runtime/arena.h"
#include "runtime/modules.h"
#include "runtime/next.h"
#include "runtime/settings.h"
#include "runtime/stats.h"
#include "runtime/thread_heap.h"

namespace halo::runtime {

extern std::uint32_t max_object;

namespace {

constinit Settings settings{};
constinit plan::PlanView plan_view;
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

__attribute__((constructor(101))) void activate() {
  resolve_next();
  settings = read_settings();
  if (settings.plan == nullptr) return;
  if (const char* problem = plan::map_plan(settings.plan, plan_view)) {
    inactive_reason = problem;
    complain(problem, settings.plan);
    return;
  }
  if (plan_view.groups.empty()) {
    inactive_reason = "the plan has no groups";
    return;
  }
  if (!arena.reserve()) {
    inactive_reason = "no address space for the groups";
    return;
  }
  max_object = plan_view.header->max_object;
  if (!configure_heaps(plan_view.groups, max_object)) {
    inactive_reason = "no memory for the groups";
    return;
  }
  // A plan for other programs (a child process, say) is no fault: nothing will match.
  inactive_reason = publish_table(plan_view) != 0 ? nullptr : "no module of the plan is loaded";
}

__attribute__((destructor)) void report() {
  if (settings.stats != nullptr)
    write_stats(settings.stats, inactive_reason, plan_view.groups.size());
}

}  // namespace
}  // namespace halo::runtime
