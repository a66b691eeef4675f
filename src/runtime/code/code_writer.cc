#include "runtime/code/code_writer.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/keep_errno.h"

namespace halo::runtime {

// System calls without the C library's functions, which are cancellation points: the loader's lock
// may be held here.
CodeWriter::~CodeWriter() {
  const KeepErrno keep;
  if (memory_ >= 0) syscall(SYS_close, memory_);
}

bool CodeWriter::write(const uint8_t* at, uint8_t value) {
  const KeepErrno keep;
  if (memory_ < 0)
    memory_ = static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC));
  if (memory_ < 0) return false;
  const auto place = static_cast<off_t>(reinterpret_cast<uintptr_t>(at));
  return syscall(SYS_pwrite64, memory_, &value, 1, place) == 1 &&
         __atomic_load_n(at, __ATOMIC_RELAXED) == value;
}

}  // namespace halo::runtime
