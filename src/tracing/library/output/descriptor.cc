// Holds a descriptor, and detects if the program has closed or replaced it.
#include "tracing/library/output/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace halo::logging {

int move_to_high_number(int descriptor) {
  if (descriptor < 0) return -1;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const int wanted = limit.rlim_cur > 4096 ? 4000 : int(limit.rlim_cur) - 16;
  int moved = wanted > 3 ? fcntl(descriptor, F_DUPFD_CLOEXEC, wanted) : -1;
  if (moved < 0) moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  if (moved < 0) return -1;
  close(descriptor);
  return moved;
}

void Descriptor::hold(int descriptor) {
  struct stat status{};
  number_ = descriptor >= 0 && fstat(descriptor, &status) == 0 ? descriptor : -1;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

bool Descriptor::is_ours() const {
  struct stat status{};
  if (number_ >= 0 && fstat(number_, &status) == 0 && status.st_dev == device_ &&
      status.st_ino == inode_) {
    return true;
  }
  errno = EBADF;
  return false;
}

void Descriptor::close() {
  if (is_ours()) ::close(number_);
  number_ = -1;
}

}  // namespace halo::logging
