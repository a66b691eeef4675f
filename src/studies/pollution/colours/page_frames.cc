#include "studies/pollution/colours/page_frames.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <new>

namespace halo::colours {

ResidentPages::ResidentPages(size_t count)
    : count_(count),
      memory_(mmap(nullptr, count * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                   -1, 0)) {
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
  madvise(memory_, count * kPageBytes, MADV_NOHUGEPAGE);
  memset(memory_, 1, count * kPageBytes);
}

std::vector<uint64_t> ResidentPages::frames() const {
  std::vector<uint64_t> entries(count_);
  const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (file < 0) return entries;
  const auto first = reinterpret_cast<uintptr_t>(memory_) / kPageBytes * sizeof(uint64_t);
  const size_t bytes = count_ * sizeof(uint64_t);
  if (pread(file, entries.data(), bytes, static_cast<off_t>(first)) != static_cast<ssize_t>(bytes))
    entries.assign(count_, 0);
  close(file);
  constexpr uint64_t kFrameBits = (uint64_t{1} << 55) - 1;
  for (uint64_t& entry : entries) entry &= kFrameBits;
  return entries;
}

}  // namespace halo::colours
