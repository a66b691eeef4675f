// Replaces the variable where it stands in the environment: allocates nothing, and the program's
// own list of variables keeps its length and order.
#include "runtime/plan_variable.h"

#include <unistd.h>

#include <cstring>

#include "base/keep_errno.h"

namespace halo::runtime {
namespace {

constexpr char name[] = "HALO_PLAN=";
constexpr std::size_t name_length = sizeof name - 1;
constexpr std::size_t longest_path = 4096;

constinit char absolute[name_length + longest_path]{};
constinit char empty[sizeof name]{};

void replace(char* with) {
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    if (std::strncmp(*variable, name, name_length) == 0) *variable = with;
}

}  // namespace

void name_plan_to_children(const char* path) {
  if (path[0] == '/') return;
  const KeepErrno keep;
  char* folder = absolute + name_length;
  if (getcwd(folder, longest_path) == nullptr) return;
  const std::size_t used = std::strlen(folder), more = std::strlen(path) + 1;
  if (folder[0] != '/' || used + 1 + more > longest_path) return;
  std::memcpy(absolute, name, name_length);
  folder[used] = '/';
  std::memcpy(folder + used + 1, path, more);
  replace(absolute);
}

void hide_plan_from_children() {
  std::memcpy(empty, name, sizeof name);
  replace(empty);
}

}  // namespace halo::runtime
