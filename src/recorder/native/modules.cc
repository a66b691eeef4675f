// Interposes the functions that unmap code, or make memory executable or writable.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/code_memory.h"
#include "base/old_c_library.h"
#include "base/system_call.h"
#include "recorder/native/burst/bursts.h"
#include "recorder/native/engine.h"
#include "recorder/wrappers/exits.h"
#include "recorder/wrappers/wrapper.h"

namespace {

using Close = int (*)(void*);
constinit Close next_dlclose = nullptr;

uint64_t number(const void* address) { return reinterpret_cast<uint64_t>(address); }

void change_rights(const void* address, size_t size, int rights) {
  if (halo::makes_generated_code(SYS_mprotect, uint64_t(rights), 0))
    halo::native::engine.code_generated();
  if ((rights & (PROT_EXEC | PROT_WRITE)) != 0)
    halo::native::bursts.may_change(number(address), size);
}

// The modules that are loaded at the end are part of the profile.
void leave() { halo::native::engine.read_code(); }
__attribute__((constructor)) void watch() { halo::interpose::watch_exits(leave); }
__attribute__((destructor)) void end() { leave(); }

}  // namespace

HALO_EXPORT int dlclose(void* handle) noexcept {
  if (next_dlclose == nullptr)
    next_dlclose = reinterpret_cast<Close>(halo::find_symbol(RTLD_NEXT, "dlclose"));
  if (next_dlclose == nullptr) return -1;
  halo::native::engine.read_code();
  const int result = next_dlclose(handle);
  halo::native::engine.code_unmapped();
  return result;
}

// By system calls: allocators call these before dlsym can be called.
HALO_EXPORT void* mmap(void* address, size_t size, int rights, int flags, int file,
                       off_t offset) noexcept {
  if (halo::makes_generated_code(SYS_mmap, uint64_t(rights), uint64_t(flags)))
    halo::native::engine.code_generated();
  return reinterpret_cast<void*>(halo::with_errno(
      halo::system_call(SYS_mmap, number(address), size, uint64_t(rights), uint64_t(flags),
                        uint64_t(int64_t{file}), uint64_t(offset))));
}
HALO_EXPORT void* mmap64(void* address, size_t size, int rights, int flags, int file,
                         off_t offset) noexcept {
  return mmap(address, size, rights, flags, file, offset);
}

HALO_EXPORT int mprotect(void* address, size_t size, int rights) noexcept {
  change_rights(address, size, rights);
  return int(halo::with_errno(
      halo::system_call(SYS_mprotect, number(address), size, uint64_t(int64_t{rights}))));
}
HALO_EXPORT int pkey_mprotect(void* address, size_t size, int rights, int key) noexcept {
  if (key == -1) return mprotect(address, size, rights);
  change_rights(address, size, rights);
  return int(
      halo::with_errno(halo::system_call(SYS_pkey_mprotect, number(address), size,
                                         uint64_t(int64_t{rights}), uint64_t(int64_t{key}))));
}
