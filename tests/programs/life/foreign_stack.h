// Stacks between two guard pages, and a call whose return address is the last word of such a stack:
// reading anything above it is a fault.
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { guard_bytes = 4096 };

// The lowest byte of a stack of `bytes`, a multiple of the page's size.
static inline char* make_stack(size_t bytes) {
  char* all = (char*)mmap(NULL, bytes + 2 * guard_bytes, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (all == MAP_FAILED) abort();
  if (mprotect(all + guard_bytes, bytes, PROT_READ | PROT_WRITE) != 0) abort();
  return all + guard_bytes;
}

static inline void drop_stack(char* stack, size_t bytes) {
  if (munmap(stack - guard_bytes, bytes + 2 * guard_bytes) != 0) abort();
}

// f(argument) on the stack that ends at `top`. It has no call-frame records, like most hand-written
// switches.
void call_on(char* top, void (*f)(void*), void* argument);
__asm__(
    ".text\n"
    ".type call_on, @function\n"
    "call_on:\n"
    "  push %rbx\n"
    "  push %rbp\n"
    "  mov %rsp, %rbx\n"
    "  mov %rdi, %rsp\n"
    "  mov %rdx, %rdi\n"
    "  mov %rsp, %rbp\n"
    "  call *%rsi\n"
    "  mov %rbx, %rsp\n"
    "  pop %rbp\n"
    "  pop %rbx\n"
    "  ret\n"
    ".size call_on, .-call_on\n");
