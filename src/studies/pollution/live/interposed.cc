// Functions of libc that do not get along with armed pages, or with another thread and its system
// calls. They make the system call themselves, as libc does.
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "studies/pollution/live/library.h"
#include "studies/pollution/traps/user_faults.h"

using halo::traps::call;

namespace {

int result_of(long answer) {
  if (answer >= 0) return static_cast<int>(answer);
  errno = static_cast<int>(-answer);
  return -1;
}

long without_watch(long number, long first, long second) {
  constexpr int kAttempts = 200;
  constexpr long kPauseNs = 50'000;
  const bool ended = halo::watching::end_watch();
  long answer = call(number, first, second);
  for (int attempt = 0; ended && answer == -EINVAL && attempt < kAttempts; ++attempt) {
    halo::traps::pause_thread(kPauseNs);
    answer = call(number, first, second);
  }
  return answer;
}

}  // namespace

// An armed page is a mapping of its own, and several cannot be moved at once.
extern "C" __attribute__((visibility("default"))) void* mremap(void* from, size_t bytes,
                                                               size_t wanted, int flags,
                                                               ...) noexcept {
  va_list rest;
  va_start(rest, flags);
  void* const to = va_arg(rest, void*);
  va_end(rest);
  const bool paused = halo::watching::pause_for(reinterpret_cast<uintptr_t>(from), bytes);
  const long at = call(SYS_mremap, reinterpret_cast<long>(from), static_cast<long>(bytes),
                       static_cast<long>(wanted), flags, reinterpret_cast<long>(to));
  if (paused) halo::watching::resume();
  if (at >= 0 || at < -4095) return reinterpret_cast<void*>(at);
  errno = static_cast<int>(-at);
  return MAP_FAILED;
}

// What only a process with one thread may do. A thread that was joined may be a while in the
// kernel.
extern "C" __attribute__((visibility("default"))) int unshare(int flags) noexcept {
  constexpr int kOneThread = CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM;
  if ((flags & kOneThread) == 0) return result_of(call(SYS_unshare, flags));
  return result_of(without_watch(SYS_unshare, flags, 0));
}
extern "C" __attribute__((visibility("default"))) int setns(int file, int kind) noexcept {
  return result_of(without_watch(SYS_setns, file, kind));
}

// Called before SYS_seccomp. Under a filter of system calls, the watch might be refused its own, or
// the program be killed for them. So it ends while it can.
extern "C" __attribute__((visibility("hidden"), used)) void halo_before_seccomp(
    unsigned long operation) {
  if (operation == SECCOMP_SET_MODE_STRICT || operation == SECCOMP_SET_MODE_FILTER)
    halo::watching::end_watch();
}
extern "C" __attribute__((visibility("default"))) int prctl(int option, ...) noexcept {
  va_list rest;
  va_start(rest, option);
  const long first = va_arg(rest, long), second = va_arg(rest, long);
  const long third = va_arg(rest, long), fourth = va_arg(rest, long);
  va_end(rest);
  if (option == PR_SET_SECCOMP) halo::watching::end_watch();
  return result_of(call(SYS_prctl, option, first, second, third, fourth));
}

// libc has no function for it, so the program calls `syscall`, or libseccomp does. The wrapper does
// not know the number of arguments: it leaves them as they are.
asm(R"(
        .pushsection .text
        .globl syscall
        .type syscall, @function
syscall:
        .cfi_startproc
        cmpq $317, %rdi
        je 1f
0:      movq %rdi, %rax
        movq %rsi, %rdi
        movq %rdx, %rsi
        movq %rcx, %rdx
        movq %r8, %r10
        movq %r9, %r8
        movq 8(%rsp), %r9
        syscall
        cmpq $-4095, %rax
        jae 2f
        ret
1:      pushq %rdi
        .cfi_adjust_cfa_offset 8
        pushq %rsi
        .cfi_adjust_cfa_offset 8
        pushq %rdx
        .cfi_adjust_cfa_offset 8
        pushq %rcx
        .cfi_adjust_cfa_offset 8
        pushq %r8
        .cfi_adjust_cfa_offset 8
        pushq %r9
        .cfi_adjust_cfa_offset 8
        subq $8, %rsp
        .cfi_adjust_cfa_offset 8
        movq %rsi, %rdi
        call halo_before_seccomp
        addq $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq %r9
        .cfi_adjust_cfa_offset -8
        popq %r8
        .cfi_adjust_cfa_offset -8
        popq %rcx
        .cfi_adjust_cfa_offset -8
        popq %rdx
        .cfi_adjust_cfa_offset -8
        popq %rsi
        .cfi_adjust_cfa_offset -8
        popq %rdi
        .cfi_adjust_cfa_offset -8
        jmp 0b
2:      negq %rax
        pushq %rax
        .cfi_adjust_cfa_offset 8
        call __errno_location@PLT
        popq %rdx
        .cfi_adjust_cfa_offset -8
        movl %edx, (%rax)
        movq $-1, %rax
        ret
        .cfi_endproc
        .size syscall, . - syscall
        .popsection
)");
static_assert(SYS_seccomp == 317);
