// Entries for call sites with a rule for hints. They are entered by a jump: rsp points to the
// program's return address, and the callee-saved registers are the caller's.
#include <cstddef>
#include <cstdint>

#include "runtime/base/next.h"
#include "runtime/entry/assembly.h"
#include "runtime/hints/rules.h"
#include "runtime/serve/grouped.h"

// Stores the registers in the order of HintCode::push_register, and calls the function with the
// size, the registers and the slot of the return address.
#define HALO_PUSH(name) \
  "push %" name         \
  "\n"                  \
  ".cfi_adjust_cfa_offset 8\n"
#define HALO_HINTED_ENTRY(name, target) \
  HALO_ASSEMBLY(name, HALO_HIDDEN_SYMBOL(name),                                                \
                HALO_PUSH("r15") HALO_PUSH("r14") HALO_PUSH("r13") HALO_PUSH("r12")            \
                    HALO_PUSH("rbp") HALO_PUSH("rbx")                                          \
                "mov %rsp, %rsi\n"                                                             \
                "lea 48(%rsp), %rdx\n"                                                         \
                "sub $8, %rsp\n"                                                               \
                ".cfi_adjust_cfa_offset 8\n"                                                   \
                "call " target                                                                 \
                "\n"                                                                           \
                "add $56, %rsp\n"                                                              \
                ".cfi_adjust_cfa_offset -56\n"                                                 \
                "ret\n")

HALO_HINTED_ENTRY("halo_hinted_malloc", "halo_malloc_by_hint");
HALO_HINTED_ENTRY("halo_hinted_new", "halo_new_by_hint");

using namespace halo::runtime;

extern "C" {

__attribute__((used)) void* halo_malloc_by_hint(std::size_t size, const std::uint64_t* registers,
                                                const std::uintptr_t* slot) {
  if (void* p = allocate_hinted(size, {registers, slot})) return p;
  return fallback.malloc(size);
}

__attribute__((used)) void* halo_new_by_hint(std::size_t size, const std::uint64_t* registers,
                                             const std::uintptr_t* slot) {
  if (void* p = allocate_hinted(size, {registers, slot})) return p;
  void* p = fallback.malloc(size == 0 ? 1 : size);
  return p != nullptr ? p : refused_new("_Znwm", size);
}

}  // extern "C"
