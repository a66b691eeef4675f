// Entries for call sites with a rule for hints. They are entered by a jump: rsp points to the
// program's return address, and the callee-saved registers are the caller's.
#include <cstddef>
#include <cstdint>

#include "runtime/base/next.h"
#include "runtime/entry/assembly.h"
#include "runtime/hints/rules.h"
#include "runtime/serve/grouped.h"

// The size is in rdi, and the rule in rdx. Stores the size and the registers, these in the order of
// HintCode::push_register below the slot of the return address, and calls halo_place with the size,
// the registers and the rule. `forward` gets the size if the rule is not for it, or without memory.
#define HALO_PUSH(name) \
  "push %" name         \
  "\n"                  \
  ".cfi_adjust_cfa_offset 8\n"
#define HALO_HINTED_ENTRY(name, forward) \
  HALO_ASSEMBLY(name, HALO_HIDDEN_SYMBOL(name),                                                \
                HALO_PUSH("r15") HALO_PUSH("r14") HALO_PUSH("r13") HALO_PUSH("r12")            \
                    HALO_PUSH("rbp") HALO_PUSH("rbx")                                          \
                "mov %rsp, %rsi\n"                                                             \
                HALO_PUSH("rdi")                                                               \
                "call halo_place\n"                                                            \
                "pop %rdi\n"                                                                   \
                ".cfi_adjust_cfa_offset -8\n"                                                  \
                "add $48, %rsp\n"                                                              \
                ".cfi_adjust_cfa_offset -48\n"                                                 \
                "test %rax, %rax\n"                                                            \
                "je " forward                                                                  \
                "\n"                                                                           \
                "ret\n")

HALO_HINTED_ENTRY("halo_hinted_malloc", "halo_forward_malloc");
HALO_HINTED_ENTRY("halo_hinted_new", "halo_forward_new");

using namespace halo::runtime;

extern "C" {

__attribute__((used)) void* halo_forward_malloc(std::size_t size) { return fallback.malloc(size); }

__attribute__((used)) void* halo_forward_new(std::size_t size) {
  void* const p = fallback.malloc(size == 0 ? 1 : size);
  return p != nullptr ? p : refused_new("_Znwm", size);
}

}  // extern "C"
