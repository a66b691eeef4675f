// The exported functions that can make memory executable. The dynamic linker's own mappings do not
// pass here.
#include "runtime/code/generated_code.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "base/old_c_library.h"
#include "base/own_module.h"
#include "runtime/base/exports.h"

namespace halo::runtime {
namespace {

// Null until they are found; some C libraries lack pkey_mprotect.
struct MappingFunctions {
  void* (*mmap)(void*, size_t, int, int, int, off_t);
  int (*mprotect)(void*, size_t, int);
  int (*pkey_mprotect)(void*, size_t, int, int);
  void* (*shmat)(int, const void*, int);
};
constinit MappingFunctions next_mapping{};

constinit std::atomic<bool> generated{false};
constinit std::atomic<CodeListener> code_listener{nullptr};

template <typename Function>
void look_up(Function& function, const char* name) {
  function = reinterpret_cast<Function>(find_symbol(RTLD_NEXT, name));
}

// The runtime's own code does not access objects.
[[gnu::noinline]] void code_appeared(const void* caller) {
  if (is_in_own_module(caller)) return;
  generated.store(true, std::memory_order_release);
  if (const CodeListener listener = code_listener.load(std::memory_order_acquire)) listener();
}

void* map(void* at, size_t bytes, int rights, int flags, int file, off_t offset) {
  if (next_mapping.mmap != nullptr)
    return next_mapping.mmap(at, bytes, rights, flags, file, offset);
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, rights, flags, file, offset));
}

}  // namespace

void find_mapping_functions() {
  const int saved_errno = errno;
  look_up(next_mapping.mmap, "mmap");
  look_up(next_mapping.mprotect, "mprotect");
  look_up(next_mapping.pkey_mprotect, "pkey_mprotect");
  look_up(next_mapping.shmat, "shmat");
  errno = saved_errno;
}

bool generates_code() { return generated.load(std::memory_order_acquire); }

void set_code_listener(CodeListener listener) {
  code_listener.store(listener, std::memory_order_release);
}

}  // namespace halo::runtime

extern "C" {

HALO_EXPORTED_FUNCTIONS(HALO_DECLARE)

void* mmap(void* at, size_t bytes, int rights, int flags, int file, off_t offset) noexcept {
  if ((rights & PROT_EXEC) != 0) [[unlikely]]
    halo::runtime::code_appeared(__builtin_return_address(0));
  return halo::runtime::map(at, bytes, rights, flags, file, offset);
}

void* mmap64(void* at, size_t bytes, int rights, int flags, int file, off_t offset) noexcept
    __attribute__((alias("mmap")));

int mprotect(void* at, size_t bytes, int rights) noexcept {
  if ((rights & PROT_EXEC) != 0) [[unlikely]]
    halo::runtime::code_appeared(__builtin_return_address(0));
  if (halo::runtime::next_mapping.mprotect != nullptr)
    return halo::runtime::next_mapping.mprotect(at, bytes, rights);
  return static_cast<int>(syscall(SYS_mprotect, at, bytes, rights));
}

int pkey_mprotect(void* at, size_t bytes, int rights, int key) noexcept {
  if ((rights & PROT_EXEC) != 0) [[unlikely]]
    halo::runtime::code_appeared(__builtin_return_address(0));
  if (halo::runtime::next_mapping.pkey_mprotect != nullptr)
    return halo::runtime::next_mapping.pkey_mprotect(at, bytes, rights, key);
  if (key == -1) return mprotect(at, bytes, rights);
  return static_cast<int>(syscall(SYS_pkey_mprotect, at, bytes, rights, key));
}

void* shmat(int segment, const void* at, int flags) noexcept {
  if ((flags & SHM_EXEC) != 0) [[unlikely]]
    halo::runtime::code_appeared(__builtin_return_address(0));
  if (halo::runtime::next_mapping.shmat != nullptr)
    return halo::runtime::next_mapping.shmat(segment, at, flags);
  return reinterpret_cast<void*>(syscall(SYS_shmat, segment, at, flags));
}
}
