#include "studies/pollution/page_frames/frame_numbers.h"

#include <fcntl.h>

#include "studies/pollution/traps/user_faults.h"

namespace halo::frames {

using traps::call;

bool FrameNumbers::open() {
  if (file_ >= 0) return true;
  const long file = call(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/pagemap"),
                         O_RDONLY | O_CLOEXEC);
  file_ = file < 0 ? -1 : static_cast<int>(file);
  return file_ >= 0;
}

void FrameNumbers::close() {
  if (file_ >= 0) call(SYS_close, file_);
  file_ = -1;
}

bool FrameNumbers::read(uintptr_t page, size_t count, uint64_t* frames) const {
  constexpr uint64_t kFrameBits = (uint64_t{1} << 55) - 1;
  constexpr uint64_t kPresent = uint64_t{1} << 63;
  const size_t bytes = count * sizeof(uint64_t);
  const size_t offset = page / kPageBytes * sizeof(uint64_t);
  if (call(SYS_pread64, file_, reinterpret_cast<long>(frames), static_cast<long>(bytes),
           static_cast<long>(offset)) != static_cast<long>(bytes))
    return false;
  for (size_t at = 0; at < count; ++at)
    frames[at] = (frames[at] & kPresent) != 0 ? frames[at] & kFrameBits : kAbsent;
  return true;
}

}  // namespace halo::frames
