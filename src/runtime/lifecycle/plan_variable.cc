// Replaces the variable in place: allocates nothing, and keeps the length and order of the
// program's environment.
#include "runtime/lifecycle/plan_variable.h"

#include <stdio.h>
#include <unistd.h>

#include <cstring>

#include "base/keep_errno.h"
#include "base/output_path.h"

namespace halo::runtime {
namespace {

constexpr char kName[] = "HALO_PLAN=";
constexpr size_t kNameLength = sizeof kName - 1;
constexpr size_t kLongestPath = 4096;

constinit char absolute[kNameLength + kLongestPath]{};
constinit char empty[sizeof kName]{};

void replace(char* with) {
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    if (std::strncmp(*variable, kName, kNameLength) == 0) *variable = with;
}

}  // namespace

void name_plan_to_children(const char* path) {
  if (path[0] == '/') return;
  const KeepErrno keep;
  char whole[kLongestPath];
  if (make_absolute(path, whole) >= sizeof whole || whole[0] != '/') return;
  snprintf(absolute, sizeof absolute, "%s%s", kName, whole);
  replace(absolute);
}

void hide_plan_from_children() {
  std::memcpy(empty, kName, sizeof kName);
  replace(empty);
}

}  // namespace halo::runtime
