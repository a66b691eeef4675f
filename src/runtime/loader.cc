// dlopen and dlclose, seen in passing: the real functions are entered by a jump, so that they find
// the caller they would have found without us.
#include <dlfcn.h>

#include <cstdint>

#include "runtime/modules.h"

namespace {

using Function = void*;

// The real function, and the note for later; called from the trampolines with the address of the
// return address.
extern "C" __attribute__((used)) Function halo_enter_dlopen(const std::uintptr_t* slot) {
  static constinit Function real = nullptr;
  if (real == nullptr) real = dlsym(RTLD_NEXT, "dlopen");
  halo::runtime::expect_module_change(slot);
  return real;
}

extern "C" __attribute__((used)) Function halo_enter_dlclose(const std::uintptr_t* slot) {
  static constinit Function real = nullptr;
  if (real == nullptr) real = dlsym(RTLD_NEXT, "dlclose");
  halo::runtime::distrust_late_modules();
  halo::runtime::expect_module_change(slot);
  return real;
}

}  // namespace

// Saves the two argument registers, asks for the real function, restores and jumps. The CFI keeps
// the frames readable for a profiler's signal in between.
#define HALO_TRAMPOLINE(name, enter)     \
  asm(".text\n"                          \
      ".globl " name                     \
      "\n"                               \
      ".type " name ", @function\n" name \
      ":\n"                              \
      ".cfi_startproc\n"                 \
      "push %rdi\n"                      \
      ".cfi_adjust_cfa_offset 8\n"       \
      "push %rsi\n"                      \
      ".cfi_adjust_cfa_offset 8\n"       \
      "sub $8, %rsp\n"                   \
      ".cfi_adjust_cfa_offset 8\n"       \
      "lea 24(%rsp), %rdi\n"             \
      "call " enter                      \
      "\n"                               \
      "add $8, %rsp\n"                   \
      ".cfi_adjust_cfa_offset -8\n"      \
      "pop %rsi\n"                       \
      ".cfi_adjust_cfa_offset -8\n"      \
      "pop %rdi\n"                       \
      ".cfi_adjust_cfa_offset -8\n"      \
      "jmp *%rax\n"                      \
      ".cfi_endproc\n"                   \
      ".size " name ", .-" name "\n")

HALO_TRAMPOLINE("dlopen", "halo_enter_dlopen");
HALO_TRAMPOLINE("dlclose", "halo_enter_dlclose");
