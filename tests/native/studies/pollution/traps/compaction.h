// Has the kernel compact memory, or keeps the tests of all processes from doing so.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace halo::traps {

// A lock among the tests of this machine: native tests and those under sanitizers run side by side.
// A test that expects pages to keep their frames shares it, one that compacts memory has it alone.
class FramesLock {
 public:
  explicit FramesLock(bool shared) : folder_(open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (folder_ >= 0) flock(folder_, shared ? LOCK_SH : LOCK_EX);
  }
  ~FramesLock() {
    if (folder_ >= 0) close(folder_);
  }
  FramesLock(const FramesLock&) = delete;
  FramesLock& operator=(const FramesLock&) = delete;

 private:
  int folder_;
};

// Has the kernel compact memory as long as the object lives: it migrates pages to other frames.
class Compaction {
 public:
  Compaction() : lock_(false), file_(open("/proc/sys/vm/compact_memory", O_WRONLY | O_CLOEXEC)) {
    if (file_ < 0) return;
    thread_ = std::thread([this] {
      while (!ends_ && write(file_, "1", 1) == 1) {
      }
    });
  }
  ~Compaction() {
    if (file_ < 0) return;
    ends_ = true;
    thread_.join();
    close(file_);
  }
  Compaction(const Compaction&) = delete;
  Compaction& operator=(const Compaction&) = delete;

  bool is_possible() const { return file_ >= 0; }

 private:
  FramesLock lock_;
  int file_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace halo::traps
