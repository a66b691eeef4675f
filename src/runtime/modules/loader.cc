// The exported dlopen and dlclose.
#include "runtime/modules/loader.h"

#include <dlfcn.h>

#include <cstdint>

#include "base/old_c_library.h"
#include "runtime/base/exports.h"
#include "runtime/modules/module_changes.h"

// dlopen reads its caller, for its RUNPATH and namespace, so the real one is entered by a jump and
// finds the original caller. dlclose does not, so it is called.
namespace {

using Open = void* (*)(const char*, int);
using Close = int (*)(void*);

void* find_real(const char* name) {
  void* found = halo::find_symbol(RTLD_NEXT, name);
  return found != nullptr ? found : halo::of_libdl(name);
}

// The real function; the trampoline calls this.
extern "C" __attribute__((used)) Open halo_enter_dlopen() {
  static constinit Open real = nullptr;
  if (real == nullptr) real = reinterpret_cast<Open>(find_real("dlopen"));
  halo::runtime::begin_opening();
  return real;
}

}  // namespace

extern "C" {

HALO_EXPORTED_FUNCTIONS(HALO_DECLARE)

// The mask of flags that dlopen may receive.
HALO_HIDDEN constinit uint32_t halo_dlopen_flags = ~uint32_t{0};

int dlclose(void* handle) noexcept {
  static constinit Close real = nullptr;
  if (real == nullptr) real = reinterpret_cast<Close>(find_real("dlclose"));
  halo::runtime::begin_closing();
  const int result = real(handle);
  halo::runtime::end_closing();
  return result;
}
}

namespace halo::runtime {

void forbid_deep_binding() { halo_dlopen_flags = ~uint32_t{RTLD_DEEPBIND}; }

}  // namespace halo::runtime

// Saves the two argument registers, resolves the real function, restores them and jumps. The CFI
// keeps the frames readable for a profiler's signal in between.
asm(".text\n"
    ".globl dlopen\n"
    ".type dlopen, @function\n"
    "dlopen:\n"
    ".cfi_startproc\n"
    "push %rdi\n"
    ".cfi_adjust_cfa_offset 8\n"
    "push %rsi\n"
    ".cfi_adjust_cfa_offset 8\n"
    "sub $8, %rsp\n"
    ".cfi_adjust_cfa_offset 8\n"
    "call halo_enter_dlopen\n"
    "add $8, %rsp\n"
    ".cfi_adjust_cfa_offset -8\n"
    "pop %rsi\n"
    ".cfi_adjust_cfa_offset -8\n"
    "pop %rdi\n"
    ".cfi_adjust_cfa_offset -8\n"
    "and halo_dlopen_flags(%rip), %esi\n"
    "jmp *%rax\n"
    ".cfi_endproc\n"
    ".size dlopen, .-dlopen\n");
