// Functions in assembly: where a compiler would not keep the path that short, or would not leave
// the caller's registers alone.
#pragma once

// `visibility` is a directive for the name, such as HALO_HIDDEN_SYMBOL(name), or empty.
#define HALO_ASSEMBLY(name, visibility, body)                           \
  asm(".text\n"                                                         \
      ".globl " name "\n" visibility ".type " name ", @function\n" name \
      ":\n"                                                             \
      ".cfi_startproc\n" body                                           \
      ".cfi_endproc\n"                                                  \
      ".size " name ", .-" name "\n")
#define HALO_HIDDEN_SYMBOL(name) ".hidden " name "\n"
