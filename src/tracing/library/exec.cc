// The exec family: completes the trace before the program replaces itself.
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <string_view>

#include "base/keep_errno.h"
#include "recorder/wrappers/wrapper.h"
#include "tracing/library/consumer.h"

// A successful exec does not return. So the consumer writes the whole trace with an end, and
// removes the end if the call returns. A stream cannot remove it, and ends there.
namespace {

struct Next {
  const char* name;
  void* function;
};
constinit Next nexts[] = {{"execve", nullptr},  {"execv", nullptr},   {"execvp", nullptr},
                          {"execvpe", nullptr}, {"fexecve", nullptr}, {"execveat", nullptr}};

// Early: forked children call exec, and dlsym there may wait for a lock that no thread of the child
// holds.
__attribute__((constructor)) void look_up() {
  for (Next& next : nexts) next.function = dlsym(RTLD_NEXT, next.name);
}

void* find(std::string_view name) {
  for (const Next& next : nexts)
    if (next.name == name && next.function != nullptr) return next.function;
  return dlsym(RTLD_NEXT, name.data());  // before the library's constructors have run
}

template <class... Arguments>
int become(const char* name, Arguments... arguments) {
  using Function = int (*)(Arguments...);
  const auto next = reinterpret_cast<Function>(find(name));
  if (next == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  halo::logging::end_trace_for_exec();
  const int result = next(arguments...);
  halo::logging::resume_trace();
  return result;
}

using Strings = char* const*;

// The arguments of execl and similar functions as a list on the stack.
size_t count_arguments(va_list arguments) {
  size_t count = 1;
  while (va_arg(arguments, char*) != nullptr) ++count;
  return count;
}

void take_arguments(const char* first, va_list arguments, char** list) {
  *list++ = const_cast<char*>(first);
  while ((*list++ = va_arg(arguments, char*)) != nullptr) {
  }
}

}  // namespace

#define HALO_TAKE_LIST(list)                                                   \
  va_list arguments;                                                           \
  va_start(arguments, first);                                                  \
  const size_t count = count_arguments(arguments);                             \
  va_end(arguments);                                                           \
  auto* list = static_cast<char**>(alloca((count + 1) * sizeof(const char*))); \
  va_start(arguments, first);                                                  \
  take_arguments(first, arguments, list)

HALO_EXPORT int execve(const char* path, Strings arguments, Strings environment) noexcept {
  return become<const char*, Strings, Strings>("execve", path, arguments, environment);
}
HALO_EXPORT int execv(const char* path, Strings arguments) noexcept {
  return become<const char*, Strings>("execv", path, arguments);
}
HALO_EXPORT int execvp(const char* file, Strings arguments) noexcept {
  return become<const char*, Strings>("execvp", file, arguments);
}
HALO_EXPORT int execvpe(const char* file, Strings arguments, Strings environment) noexcept {
  return become<const char*, Strings, Strings>("execvpe", file, arguments, environment);
}
HALO_EXPORT int fexecve(int file, Strings arguments, Strings environment) noexcept {
  return become<int, Strings, Strings>("fexecve", file, arguments, environment);
}
HALO_EXPORT int execveat(int folder, const char* path, Strings arguments, Strings environment,
                         int flags) noexcept {
  return become<int, const char*, Strings, Strings, int>("execveat", folder, path, arguments,
                                                         environment, flags);
}
HALO_EXPORT int execl(const char* path, const char* first, ...) noexcept {
  HALO_TAKE_LIST(list);
  va_end(arguments);
  return execv(path, list);
}
HALO_EXPORT int execlp(const char* file, const char* first, ...) noexcept {
  HALO_TAKE_LIST(list);
  va_end(arguments);
  return execvp(file, list);
}
HALO_EXPORT int execle(const char* path, const char* first, ...) noexcept {
  HALO_TAKE_LIST(list);
  Strings environment = va_arg(arguments, Strings);
  va_end(arguments);
  return execve(path, list, environment);
}
