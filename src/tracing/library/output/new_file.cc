// Creates files that were not there before.
#include "tracing/library/output/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output_path.h"
#include "tracing/library/output/descriptor.h"

namespace halo::logging {

bool NewFile::set_path(const char* path) {
  return *path != '\0' && make_absolute(path, path_) < sizeof path_ - 32;
}

int NewFile::create() {
  struct stat status{};
  if (stat(path_, &status) == 0 && S_ISCHR(status.st_mode))
    return move_to_high_number(open(path_, O_WRONLY | O_NOCTTY | O_CLOEXEC));
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  int descriptor = -1;
  errno = EEXIST;
  if (!taken_) descriptor = open(path_, kFlags, 0666);
  // A process may run several programs one after the other.
  for (int number = 0; descriptor < 0 && errno == EEXIST && number < 10000; ++number) {
    char path[PATH_MAX];
    const size_t length = size_t(snprintf(path, sizeof path, "%s.%d", path_, getpid()));
    if (number != 0) snprintf(path + length, sizeof path - length, ".%d", number);
    descriptor = open(path, kFlags, 0666);
  }
  return move_to_high_number(descriptor);
}

}  // namespace halo::logging
