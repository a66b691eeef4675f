// The system calls, which may fail.
#include "fuzz/faults.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace halo::fuzz {
namespace {

constinit std::atomic<unsigned> passing_left{0};
constinit std::atomic<unsigned> failing_left{0};
constinit std::atomic<unsigned> struck{0};

bool take_one(std::atomic<unsigned>& from) {
  unsigned left = from.load();
  while (left != 0)
    if (from.compare_exchange_weak(left, left - 1)) return true;
  return false;
}

bool fails() {
  if (take_one(passing_left) || !take_one(failing_left)) return false;
  struck.fetch_add(1);
  errno = ENOMEM;
  return true;
}

}  // namespace

void arm_faults(unsigned passing, unsigned failing) {
  failing_left = 0;
  passing_left = passing;
  failing_left = failing;
}

void disarm_faults() { arm_faults(0, 0); }

unsigned faults_struck() { return struck.load(); }

}  // namespace halo::fuzz

using halo::fuzz::fails;

extern "C" {

void* mmap(void* at, size_t bytes, int access, int flags, int file, off_t offset) noexcept {
  if (fails()) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, access, flags, file, offset));
}

int munmap(void* at, size_t bytes) noexcept {
  return fails() ? -1 : static_cast<int>(syscall(SYS_munmap, at, bytes));
}

int mprotect(void* at, size_t bytes, int access) noexcept {
  return fails() ? -1 : static_cast<int>(syscall(SYS_mprotect, at, bytes, access));
}

int madvise(void* at, size_t bytes, int advice) noexcept {
  return fails() ? -1 : static_cast<int>(syscall(SYS_madvise, at, bytes, advice));
}

}  // extern "C"
