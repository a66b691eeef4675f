#include "runtime/code/code_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/keep_errno.h"

namespace halo::runtime {

CodeWriter::~CodeWriter() {
  const KeepErrno keep;
  if (memory_ >= 0) close(memory_);
}

bool CodeWriter::write(const std::uint8_t* at, std::uint8_t value) {
  const KeepErrno keep;
  if (memory_ < 0) memory_ = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  if (memory_ < 0) return false;
  const auto place = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(at));
  return pwrite(memory_, &value, 1, place) == 1 && __atomic_load_n(at, __ATOMIC_RELAXED) == value;
}

}  // namespace halo::runtime
