// The exported dlopen and dlclose. dlopen looks at its caller, for the RUNPATH and the namespace
// that count, so the real one is entered by a jump and finds the caller it would have found without
// us; dlclose does not, and is called.
#include "runtime/loader.h"

#include <dlfcn.h>

#include <cstdint>

#include "runtime/exported.h"
#include "runtime/module_changes.h"

namespace {

using Open = void* (*)(const char*, int);
using Close = int (*)(void*);

// The real function; called from the trampoline.
extern "C" __attribute__((used)) Open halo_enter_dlopen() {
  static constinit Open real = nullptr;
  if (real == nullptr) real = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
  halo::runtime::begin_opening();
  return real;
}

}  // namespace

extern "C" {

// The flags that dlopen may get.
HALO_HIDDEN constinit std::uint32_t halo_dlopen_flags = ~std::uint32_t{0};

HALO_EXPORT int dlclose(void* handle) {
  static constinit Close real = nullptr;
  if (real == nullptr) real = reinterpret_cast<Close>(dlsym(RTLD_NEXT, "dlclose"));
  halo::runtime::begin_closing();
  const int result = real(handle);
  halo::runtime::end_closing();
  return result;
}
}

namespace halo::runtime {

void forbid_deep_binding() { halo_dlopen_flags = ~std::uint32_t{RTLD_DEEPBIND}; }

}  // namespace halo::runtime

// Saves the two argument registers, asks for the real function, restores and jumps. The CFI keeps
// the frames readable for a profiler's signal in between.
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
