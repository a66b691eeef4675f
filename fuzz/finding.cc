// Reports without allocating, since the allocator may have failed.
#include "fuzz/finding.h"

#include <errno.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace halo::fuzz {

void report_finding(const char* sentence) {
  iovec parts[3] = {{const_cast<char*>("finding: "), 9},
                    {const_cast<char*>(sentence), std::strlen(sentence)},
                    {const_cast<char*>("\n"), 1}};
  if (writev(STDERR_FILENO, parts, 3) < 0) std::abort();
  std::abort();
}

int status_of(int child) {
  int status = 0;
  pid_t ended;
  do {
    ended = waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  require(ended == child, "a child was lost");
  return status;
}

}  // namespace halo::fuzz
