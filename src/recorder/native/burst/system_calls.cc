// Tables of system calls. What is in none of them ends the burst.
#include "recorder/native/burst/system_calls.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "recorder/native/burst/burst_thread.h"
#include "recorder/native/burst/emitter.h"

namespace halo::native {

CallTreatment treatment(const BurstThread& thread, bool (*is_of_module)(uint64_t address)) {
  const uint64_t* registers = thread.registers;
  const auto touches_module = [&] {
    return is_of_module(registers[kRdi]) || is_of_module(registers[kRdi] + registers[kRsi] - 1);
  };
  switch (registers[kRax]) {
    // These neither wait, nor change signals, threads, or what code is mapped.
    case SYS_brk:
    case SYS_madvise:
    case SYS_getpid:
    case SYS_gettid:
    case SYS_clock_gettime:
    case SYS_gettimeofday:
    case SYS_getrusage:
    case SYS_getuid:
    case SYS_fstat:
    case SYS_fstatfs:
    case SYS_lseek:
      return CallTreatment::kRuns;
    case SYS_mmap: {
      const bool is_risky =
          (registers[kRdx] & PROT_EXEC) != 0 || (registers[kR10] & MAP_FIXED) != 0;
      return is_risky ? CallTreatment::kEnds : CallTreatment::kRuns;
    }
    case SYS_prctl:
      return registers[kRdi] == PR_SET_NAME ? CallTreatment::kRuns : CallTreatment::kEnds;
    // By it, the C library grows the heaps of threads.
    case SYS_mprotect: {
      const bool is_risky = (registers[kRdx] & PROT_EXEC) != 0 || touches_module();
      return is_risky ? CallTreatment::kEnds : CallTreatment::kRuns;
    }
    case SYS_munmap:
      return touches_module() ? CallTreatment::kEnds : CallTreatment::kRuns;
    case SYS_mremap: {
      const bool is_risky = touches_module() || (registers[kR10] & MREMAP_FIXED) != 0;
      return is_risky ? CallTreatment::kEnds : CallTreatment::kRuns;
    }

    // These may wait. They return to their place, and keep the thread and its stack.
    case SYS_read:
    case SYS_write:
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_readv:
    case SYS_writev:
    case SYS_preadv:
    case SYS_pwritev:
    case SYS_open:
    case SYS_openat:
    case SYS_close:
    case SYS_stat:
    case SYS_lstat:
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_access:
    case SYS_faccessat:
    case SYS_faccessat2:
    case SYS_readlink:
    case SYS_readlinkat:
    case SYS_getcwd:
    case SYS_getdents64:
    case SYS_ioctl:
    case SYS_fcntl:
    case SYS_flock:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_ftruncate:
    case SYS_unlink:
    case SYS_rename:
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_ctl:
    case SYS_epoll_wait:
    case SYS_socket:
    case SYS_connect:
    case SYS_accept:
    case SYS_accept4:
    case SYS_sendto:
    case SYS_recvfrom:
    case SYS_sendmsg:
    case SYS_recvmsg:
    case SYS_shutdown:
    case SYS_setsockopt:
    case SYS_getsockopt:
    case SYS_eventfd2:
    case SYS_pipe2:
    case SYS_dup:
    case SYS_dup2:
    case SYS_futex:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_sched_yield:
    case SYS_getrandom:
    case SYS_uname:
    case SYS_sysinfo:
    case SYS_rt_sigprocmask:
      return CallTreatment::kPauses;
    default:
      return CallTreatment::kEnds;
  }
}

}  // namespace halo::native
