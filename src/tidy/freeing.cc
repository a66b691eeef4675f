#include "tidy/freeing.h"

#include <dlfcn.h>

#include <bit>
#include <cstring>

#include "base/keep_errno.h"
#include "base/old_c_library.h"
#include "base/own_module.h"
#include "tidy/context.h"

namespace halo::tidy {
namespace {

constexpr const char* kReplaced[] = {
    "free",   "realloc", "reallocarray",         "malloc_usable_size",
    "_ZdlPv", "_ZdlPvm", "_ZdlPvRKSt9nothrow_t", "_ZdaPv",
    "_ZdaPvm"};
constexpr const char* kLibraries[] = {"libc.so.", "libstdc++.so.", "libc++.so.", "libc++abi.so."};

// The functions of the process; nullptr: not to be replaced. Written when the library is loaded,
// before any other code of it runs but that of earlier constructors, and never changed.
struct Known {
  void* malloc;
  void* operator_new;
  void* free;
  void* operator_delete;
  void* sized_delete;
};
Known known{};

bool is_of_a_standard_library(void* function) {
  Dl_info info{};
  if (function == nullptr || !find_module(function, info) || info.dli_fname == nullptr)
    return false;
  const char* const slash = std::strrchr(info.dli_fname, '/');
  const char* const name = slash == nullptr ? info.dli_fname : slash + 1;
  for (const char* library : kLibraries)
    if (std::strncmp(name, library, std::strlen(library)) == 0) return true;
  return false;
}

// The linker's lock is held already, and no other thread can wait for what this one does.
// operator new calls malloc, so it is replaced only if malloc may be. The memory is reserved here,
// since a program may forbid system calls later.
__attribute__((constructor)) void look_up() {
  const KeepErrno keep;
  void* const malloc = find_symbol(RTLD_DEFAULT, "malloc");
  if (!is_of_a_standard_library(malloc)) return;
  for (const char* function : kReplaced)
    if (!is_in_own_module(find_symbol(RTLD_DEFAULT, function))) return;
  if (!Context::open()) return;
  void* const operator_new = find_symbol(RTLD_DEFAULT, "_Znwm");
  known.malloc = malloc;
  known.operator_new = is_of_a_standard_library(operator_new) ? operator_new : nullptr;
  known.free = find_symbol(RTLD_DEFAULT, "free");
  known.operator_delete = find_symbol(RTLD_DEFAULT, "_ZdlPv");
  known.sized_delete = find_symbol(RTLD_DEFAULT, "_ZdlPvm");
}

}  // namespace

bool may_replace(const tidy_functions_t& functions) {
  const auto is = []<class F>(F function, void* expected) {
    return expected != nullptr && std::bit_cast<void*>(function) == expected;
  };
  if (functions.release_sized == nullptr)
    return is(functions.allocate, known.malloc) && is(functions.release, known.free);
  return is(functions.allocate, known.operator_new) &&
         is(functions.release, known.operator_delete) &&
         is(functions.release_sized, known.sized_delete);
}

}  // namespace halo::tidy
