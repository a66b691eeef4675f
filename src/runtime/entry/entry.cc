// The trampolines: rsp points to the program's return address, and rbp is the caller's.
#include "runtime/entry/assembly.h"

#define HALO_ENTRY(name, first, slot_register, rbp_register, target) \
  HALO_ASSEMBLY(name, HALO_HIDDEN_SYMBOL(name),                      \
                first "mov %rsp, %" slot_register                    \
                      "\n"                                           \
                      "mov %rbp, %" rbp_register                     \
                      "\n"                                           \
                      "jmp " target "\n")

// To `hinted`, with the rule in rdx, if the first rule that the table has for the low 12 bits of
// the return address is of that address (hints/rules.h).
#define HALO_UNLESS_HINTED(hinted)    \
  "mov (%rsp), %rax\n"                \
  "mov %eax, %ecx\n"                  \
  "and $0xfff, %ecx\n"                \
  "lea halo_hint_rules(%rip), %rdx\n" \
  "mov (%rdx,%rcx,8), %rdx\n"         \
  "test %rdx, %rdx\n"                 \
  "je 0f\n"                           \
  "cmp %rax, (%rdx)\n"                \
  "je " hinted                        \
  "\n"                                \
  "0:\n"

HALO_ENTRY("halo_enter_malloc", HALO_UNLESS_HINTED("halo_hinted_malloc"), "rsi", "rdx",
           "halo_malloc_planned");
HALO_ENTRY("halo_enter_new", HALO_UNLESS_HINTED("halo_hinted_new"), "rsi", "rdx",
           "halo_new_planned");
HALO_ENTRY("halo_enter_new_nothrow", "", "rdx", "rcx", "halo_new_nothrow_planned");
HALO_ENTRY("halo_enter_calloc", "", "rdx", "rcx", "halo_calloc_planned");
HALO_ENTRY("halo_enter_realloc", "", "rdx", "rcx", "halo_realloc_planned");
