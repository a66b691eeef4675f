// The kernel's userfaultfd, as far as older headers lack it; no function changes errno.
//
// System calls are made without libc's wrappers: the program may have replaced them, and they would
// change its errno.
#pragma once

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

namespace halo::traps {

// As in the kernel's header from Linux 6.8 on.
inline constexpr uint64_t kFeatureMove = 1 << 16;
struct MoveRequest {
  uint64_t to;
  uint64_t from;
  uint64_t bytes;
  uint64_t mode;
  int64_t moved;  // bytes, or a negative error number
};
inline constexpr unsigned long kMove = _IOWR(UFFDIO, 0x05, MoveRequest);

// As in the kernel's header from Linux 6.7 on.
struct PageRegion {
  uint64_t start;
  uint64_t end;
  uint64_t categories;
};
struct ScanRequest {
  uint64_t size;
  uint64_t flags;
  uint64_t start;
  uint64_t end;
  uint64_t walk_end;
  uint64_t regions;
  uint64_t region_count;
  uint64_t max_pages;
  uint64_t category_inverted;
  uint64_t category_mask;
  uint64_t category_anyof_mask;
  uint64_t return_mask;
};
inline constexpr unsigned long kScanPages = _IOWR('f', 16, ScanRequest);
inline constexpr uint64_t kPageIsPresent = 1 << 3;
inline constexpr uint64_t kPageIsZero = 1 << 5;
inline constexpr uint64_t kPageIsHuge = 1 << 6;

inline constexpr int kDiscardLocked = 24;  // MADV_DONTNEED_LOCKED, from Linux 5.18 on

// What the system call returns: a negative error number if it fails.
inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                 long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

template <class Request>
long control(int file, unsigned long request, Request& argument) {
  return call(SYS_ioctl, file, static_cast<long>(request), reinterpret_cast<long>(&argument));
}

inline constexpr int kNoFile = -1;

// kNoFile if the file cannot be opened.
inline int open_to_read(const char* path) {
  const long file = call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  return file < 0 ? kNoFile : static_cast<int>(file);
}

// Sleeps for that many nanoseconds, below a second. Not a cancellation point, unlike libc's.
inline void pause_thread(long ns) {
  const timespec time{0, ns};
  call(SYS_nanosleep, reinterpret_cast<long>(&time));
}

inline long advise(uintptr_t at, size_t bytes, int advice) {
  return call(SYS_madvise, static_cast<long>(at), static_cast<long>(bytes), advice);
}

}  // namespace halo::traps
