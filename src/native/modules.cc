// Interposes the functions that unmap code, or let it change.
#include <dlfcn.h>
#include <sys/mman.h>

#include "base/old_c_library.h"
#include "interpose/wrapper.h"
#include "native/burst/bursts.h"
#include "native/engine.h"

namespace {

using Close = int (*)(void*);
using Protect = int (*)(void*, size_t, int);

constinit Close next_dlclose = nullptr;
constinit Protect next_mprotect = nullptr;

template <class Function>
bool find(Function& function, const char* name) {
  if (function == nullptr)
    function = reinterpret_cast<Function>(halo::find_symbol(RTLD_NEXT, name));
  return function != nullptr;
}

}  // namespace

HALO_EXPORT int dlclose(void* handle) noexcept {
  if (!find(next_dlclose, "dlclose")) return -1;
  const int result = next_dlclose(handle);
  halo::native::engine.code_unmapped();
  return result;
}

HALO_EXPORT int mprotect(void* address, size_t size, int rights) noexcept {
  if (!find(next_mprotect, "mprotect")) return -1;
  if ((rights & (PROT_EXEC | PROT_WRITE)) != 0)
    halo::native::bursts.may_change(reinterpret_cast<uint64_t>(address), size);
  return next_mprotect(address, size, rights);
}
