/* Every register but r11 is as before after the hook, on its quick way and on all slow ones,
   whatever the alignment of the stack; so are errno and the floating-point environment. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sites.h"

struct state {
  uint64_t general[14]; /* rax rbx rcx rdx rsi rdi rbp r8 r9 r10 r12 r13 r14 r15 */
  uint32_t mxcsr;
  uint16_t control, unused;
  unsigned char vectors[32][64] __attribute__((aligned(64)));
  uint64_t masks[8];
};

static struct state before, after;

#define EACH16(X) \
  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define EACH_HIGH(X) \
  X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)

/* rsp is moved by SHIFT around the call, so that the hook meets every alignment. */
#define CALL(SHIFT, LOAD_VECTORS, STORE_VECTORS)                                             \
  __asm__ volatile(                                                                          \
      "push %%rbx; push %%rbp; push %%r12; push %%r13; push %%r14; push %%r15\n"             \
      "sub $" #SHIFT ", %%rsp\n" LOAD_VECTORS                                                \
      "movq $0xa1, %%rax; movq $0xb2, %%rbx; movq $0xc3, %%rcx; movq $0xd4, %%rdx\n"         \
      "movq $0xe5, %%rsi; lea table(%%rip), %%rdi; movq $0x17, %%rbp; movq $0x28, %%r8\n"    \
      "movq $0x39, %%r9; movq $0x4a, %%r10; movq $0x6c, %%r12; movq $0x7d, %%r13\n"          \
      "movq $0x8e, %%r14; movq $0x9f, %%r15\n"                                               \
      "call *halo_log_v1@GOTPCREL(%%rip)\n"                                                  \
      "mov %%rax, after(%%rip); mov %%rbx, 8+after(%%rip); mov %%rcx, 16+after(%%rip)\n"     \
      "mov %%rdx, 24+after(%%rip); mov %%rsi, 32+after(%%rip); mov %%rdi, 40+after(%%rip)\n" \
      "mov %%rbp, 48+after(%%rip); mov %%r8, 56+after(%%rip); mov %%r9, 64+after(%%rip)\n"   \
      "mov %%r10, 72+after(%%rip); mov %%r12, 80+after(%%rip); mov %%r13, 88+after(%%rip)\n" \
      "mov %%r14, 96+after(%%rip); mov %%r15, 104+after(%%rip)\n"                            \
      "stmxcsr 112+after(%%rip); fnstcw 116+after(%%rip)\n" STORE_VECTORS "add $" #SHIFT     \
      ", %%rsp\n"                                                                            \
      "pop %%r15; pop %%r14; pop %%r13; pop %%r12; pop %%rbp; pop %%rbx\n"                   \
      :                                                                                      \
      :                                                                                      \
      : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc")

#define LOAD_XMM(N) "movups 128+64*" #N "+before(%%rip), %%xmm" #N "\n"
#define STORE_XMM(N) "movups %%xmm" #N ", 128+64*" #N "+after(%%rip)\n"
#define LOAD_YMM(N) "vmovups 128+64*" #N "+before(%%rip), %%ymm" #N "\n"
#define STORE_YMM(N) "vmovups %%ymm" #N ", 128+64*" #N "+after(%%rip)\n"
#define LOAD_ZMM(N) "vmovups 128+64*" #N "+before(%%rip), %%zmm" #N "\n"
#define STORE_ZMM(N) "vmovups %%zmm" #N ", 128+64*" #N "+after(%%rip)\n"
#define LOAD_MASK(N) "kmovw 128+2048+8*" #N "+before(%%rip), %%k" #N "\n"
#define STORE_MASK(N) "kmovw %%k" #N ", 128+2048+8*" #N "+after(%%rip)\n"
#define MASKS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

static void call_with(int width, int shifted) {
  errno = 77;
  if (width == 64) {
    if (shifted)
      CALL(8, EACH16(LOAD_ZMM) EACH_HIGH(LOAD_ZMM) MASKS(LOAD_MASK),
           EACH16(STORE_ZMM) EACH_HIGH(STORE_ZMM) MASKS(STORE_MASK));
    else
      CALL(0, EACH16(LOAD_ZMM) EACH_HIGH(LOAD_ZMM) MASKS(LOAD_MASK),
           EACH16(STORE_ZMM) EACH_HIGH(STORE_ZMM) MASKS(STORE_MASK));
  } else if (width == 32) {
    if (shifted)
      CALL(8, EACH16(LOAD_YMM), EACH16(STORE_YMM));
    else
      CALL(0, EACH16(LOAD_YMM), EACH16(STORE_YMM));
  } else {
    if (shifted)
      CALL(8, EACH16(LOAD_XMM), EACH16(STORE_XMM));
    else
      CALL(0, EACH16(LOAD_XMM), EACH16(STORE_XMM));
  }
}

static int check(int width) {
  static const uint64_t expected[14] = {0xa1, 0xb2, 0xc3, 0xd4, 0xe5, 0,    0x17,
                                        0x28, 0x39, 0x4a, 0x6c, 0x7d, 0x8e, 0x9f};
  for (int i = 0; i < 14; ++i)
    if (i != 5 && after.general[i] != expected[i]) return printf("general %d\n", i);
  if (after.general[5] != (uint64_t)&table) return printf("rdi\n");
  if (errno != 77) return printf("errno\n");
  if (after.mxcsr != before.mxcsr || after.control != before.control) return printf("control\n");
  for (int i = 0; i < (width == 64 ? 32 : 16); ++i)
    if (memcmp(before.vectors[i], after.vectors[i], (size_t)width) != 0)
      return printf("vector %d of %d bytes\n", i, width);
  for (int i = 1; width == 64 && i < 8; ++i)
    if ((uint16_t)before.masks[i] != (uint16_t)after.masks[i]) return printf("mask %d\n", i);
  return 0;
}

int main(void) {
  const int width = __builtin_cpu_supports("avx512f") ? 64
                    : __builtin_cpu_supports("avx2")  ? 32
                                                      : 16;
  unsigned char* bytes = (unsigned char*)before.vectors;
  for (size_t i = 0; i < sizeof before.vectors; ++i) bytes[i] = (unsigned char)(i * 37 + 11);
  for (int i = 0; i < 8; ++i) before.masks[i] = 0x1234u * (unsigned)(i + 1);
  __asm__ volatile("stmxcsr %0; fnstcw %1" : "=m"(before.mxcsr), "=m"(before.control));
  before.mxcsr = (before.mxcsr & ~0x6000u) | 0x2000; /* another rounding */
  before.control = (uint16_t)(before.control | 0x0400);
  __asm__ volatile("ldmxcsr %0; fldcw %1" : : "m"(before.mxcsr), "m"(before.control));
  for (int i = 0; i < 200000; ++i) {
    call_with(width, i & 1);
    if (check(width) != 0) return 1;
    if (i % 1000 == 0) {
      void* volatile object = malloc(100); /* an epoch */
      free(object);
    }
  }
  return 7;
}
