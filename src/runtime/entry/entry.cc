// The trampolines: rsp points to the program's return address, and rbp is the caller's.
#include "runtime/entry/assembly.h"

#define HALO_ENTRY(name, slot_register, rbp_register, target) \
  HALO_ASSEMBLY(name, HALO_HIDDEN_SYMBOL(name),               \
                "mov %rsp, %" slot_register                   \
                "\n"                                          \
                "mov %rbp, %" rbp_register                    \
                "\n"                                          \
                "jmp " target "\n")

HALO_ENTRY("halo_enter_malloc", "rsi", "rdx", "halo_malloc_planned");
HALO_ENTRY("halo_enter_new", "rsi", "rdx", "halo_new_planned");
HALO_ENTRY("halo_enter_new_nothrow", "rdx", "rcx", "halo_new_nothrow_planned");
HALO_ENTRY("halo_enter_calloc", "rdx", "rcx", "halo_calloc_planned");
HALO_ENTRY("halo_enter_realloc", "rdx", "rcx", "halo_realloc_planned");
