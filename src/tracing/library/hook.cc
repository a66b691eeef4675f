// halo_log_v1, the function that instrumented code calls for each event, and its transition to C++
// (ring.h describes the protocol).
#include <cpuid.h>

#include <algorithm>

#include "tracing/library/local.h"
#include "tracing/library/producer.h"

asm(R"(
  .text
  .p2align 6
  .globl halo_log_v1
  .type halo_log_v1, @function
halo_log_v1:
  .cfi_startproc
  movq halo_log_epoch(%rip), %r11
  testq %r11, %r11
  je .Lhalo_off
  pushq %rax
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rax, 0
  movq halo_log_local@gottpoff(%rip), %rax
  cmpq %fs:8(%rax), %r11
  jne .Lhalo_new_epoch
.Lhalo_reserve:
  movl $24, %r11d
  xaddq %r11, %fs:(%rax)
  testl $0xff000, %r11d
  je .Lhalo_slow
  movq %rsi, 8(%r11)
  movq %rdx, 16(%r11)
  movq %rdi, (%r11)
  popq %rax
  .cfi_remember_state
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rax
.Lhalo_off:
  ret

  .cfi_restore_state
.Lhalo_new_epoch:  # a marker first: word1 is observer_key(epoch)
  pushq %rcx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rcx, 0
  movl $24, %ecx
  xaddq %rcx, %fs:(%rax)
  testl $0xff000, %ecx
  je .Lhalo_no_place
  movq %r11, %fs:8(%rax)
  leaq 1(%r11, %r11), %r11
  movq %r11, 8(%rcx)
  movq $0, 16(%rcx)
  movq $1, (%rcx)
  popq %rcx
  .cfi_remember_state
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rcx
  jmp .Lhalo_reserve
  .cfi_restore_state
.Lhalo_no_place:
  popq %rcx
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rcx

.Lhalo_slow:  # any alignment of the stack; all that C++ may change is saved
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbp, 0
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  pushq %rcx
  pushq %rdx
  pushq %rsi
  pushq %rdi
  pushq %r8
  pushq %r9
  pushq %r10
  movq %rdx, %rcx
  subq halo_log_state_bytes(%rip), %rsp
  andq $-64, %rsp
  xorl %edx, %edx
  movl halo_log_state_mask(%rip), %eax
  testl %eax, %eax
  je 1f
  movq %rdx, 512(%rsp)  # xsave leaves the rest of its header as it was, xrstor wants zeroes
  movq %rdx, 520(%rsp)
  movq %rdx, 528(%rsp)
  movq %rdx, 536(%rsp)
  movq %rdx, 544(%rsp)
  movq %rdx, 552(%rsp)
  movq %rdx, 560(%rsp)
  movq %rdx, 568(%rsp)
  xsave64 (%rsp)
  jmp 2f
1:
  fxsave64 (%rsp)
2:
  movq %rcx, %rdx
  cld
  call halo_log_slow
  xorl %edx, %edx
  movl halo_log_state_mask(%rip), %eax
  testl %eax, %eax
  je 3f
  xrstor64 (%rsp)
  jmp 4f
3:
  fxrstor64 (%rsp)
4:
  leaq -56(%rbp), %rsp
  popq %r10
  popq %r9
  popq %r8
  popq %rdi
  popq %rsi
  popq %rdx
  popq %rcx
  popq %rbp
  .cfi_def_cfa %rsp, 16
  .cfi_restore %rbp
  popq %rax
  .cfi_adjust_cfa_offset -8
  .cfi_restore %rax
  ret
  .cfi_endproc
  .size halo_log_v1, .-halo_log_v1
)");

constinit std::atomic<uint64_t> halo_log_epoch{0};
__thread halo::logging::Local halo_log_local;
constinit uint32_t halo_log_state_mask = 0;
constinit uint64_t halo_log_state_bytes = 512;

extern "C" __attribute__((visibility("hidden"), used)) void halo_log_slow(uint64_t site,
                                                                          uint64_t word1,
                                                                          uint64_t word2) {
  halo::logging::log(halo::trace::Logged{site, word1, word2});
}

namespace halo::logging {

// x87, SSE, AVX and the three parts of AVX-512. The hook's callees do not touch the other states:
// memory protection keys and tiles.
constexpr uint32_t kWanted = 0b11100111;

void detect_processor_state() {
  uint32_t eax, ebx, ecx, edx;
  constexpr uint32_t kSystemUsesXsave = 1 << 27;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kSystemUsesXsave) == 0) return;
  uint32_t enabled, high;
  asm("xgetbv" : "=a"(enabled), "=d"(high) : "c"(0));
  uint32_t bytes = 512 + 64;
  for (uint32_t part = 2; part < 8; ++part) {
    if ((kWanted & enabled) >> part & 1 && __get_cpuid_count(0xD, part, &eax, &ebx, &ecx, &edx))
      bytes = std::max(bytes, ebx + eax);
  }
  halo_log_state_bytes = bytes;
  halo_log_state_mask = kWanted & enabled;
}

}  // namespace halo::logging
