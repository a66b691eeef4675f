// The code of the call sites.
#include "runtime/golden/sites.h"

#define HALO_FUNCTION(name, body)                                             \
  asm(".section halo_sites, \"ax\", @progbits\n"                              \
      ".balign 64\n"                                                          \
      ".globl " name                                                          \
      "\n"                                                                    \
      ".type " name ", @function\n" name ":\n" body ".size " name ", .-" name \
      "\n"                                                                    \
      ".text\n")

#define HALO_SITE(name, callee)                 \
  HALO_FUNCTION(name,                           \
                "sub $8, %rsp\n"                \
                "call " callee                  \
                "\n"                            \
                ".globl " name "_return\n" name \
                "_return:\n"                    \
                "add $8, %rsp\n"                \
                "ret\n")

HALO_SITE("site_malloc", "malloc@PLT");
HALO_SITE("site_realloc", "realloc@PLT");
HALO_SITE("site_new", "_Znwm@PLT");
HALO_SITE("site_malloc_reused", "malloc@PLT");
HALO_SITE("site_malloc_bump", "malloc@PLT");
HALO_SITE("site_new_reused", "_Znwm@PLT");
HALO_SITE("site_frame_1", "malloc@PLT");
HALO_SITE("site_frame_2", "site_frame_1");
HALO_SITE("site_frame_3", "site_frame_2");
HALO_SITE("site_frame_4", "site_frame_3");

HALO_FUNCTION("known_work",
              "push %rbx\n"
              "prefetcht0 (%rdi)\n"
              "nopw (%rdi)\n"
              "mov (%rdi), %rax\n"
              "addq $1, (%rdi)\n"
              "lock addq $1, (%rdi)\n"
              "cmp %rax, %rax\n"
              "jne 1f\n"
              "jmp 1f\n"
              "1:\n"
              "pop %rbx\n"
              "ret\n");
