// The frames of this process's pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halo::frames {

inline constexpr size_t kPageBytes = 4096;

// Reads /proc/self/pagemap. The file is open only while it is needed: it would show frames to a
// process that has lost its privileges since.
class FrameNumbers {
 public:
  static constexpr uint64_t kAbsent = UINT64_MAX;

  FrameNumbers() = default;
  ~FrameNumbers() { close(); }
  FrameNumbers(const FrameNumbers&) = delete;
  FrameNumbers& operator=(const FrameNumbers&) = delete;

  // Returns false if the file cannot be opened.
  bool open();
  void close();

  // The frame of each of `count` pages from `page` on, or kAbsent. Without CAP_SYS_ADMIN present
  // pages have frame 0. Returns false if the file cannot be read.
  bool read(uintptr_t page, size_t count, uint64_t* frames) const;

 private:
  int file_ = -1;
};

}  // namespace halo::frames
