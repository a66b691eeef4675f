// Has the kernel compact memory as long as the object lives: it migrates pages to other frames.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace halo::traps {

class Compaction {
 public:
  Compaction() : file_(open("/proc/sys/vm/compact_memory", O_WRONLY | O_CLOEXEC)) {
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
  int file_;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace halo::traps
