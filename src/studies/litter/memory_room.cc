// Reads /proc, the control groups (version 2) and the resource limits.
#include "studies/litter/memory_room.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace halo::litter {

namespace {

constexpr uint64_t kUnlimited = UINT64_MAX;

// The first bytes of a small file; empty if it cannot be read.
struct Text {
  explicit Text(const char* path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = '\0';
  }
  char text[4096];
};

uint64_t number_after(const char* text, const char* name) {
  const char* at = strstr(text, name);
  return at == nullptr ? kUnlimited : strtoull(at + strlen(name), nullptr, 10);
}

uint64_t available() {
  const Text info("/proc/meminfo");
  const uint64_t kib = number_after(info.text, "MemAvailable:");
  return kib == kUnlimited ? kUnlimited : kib * 1024;
}

uint64_t left_in(const char* group) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
  const Text maximum_text(path);
  if (maximum_text.text[0] < '0' || maximum_text.text[0] > '9')
    return kUnlimited;  // "max", or no such file
  snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.current", group);
  const uint64_t now = strtoull(Text(path).text, nullptr, 10);
  snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.stat", group);
  const uint64_t cached = number_after(Text(path).text, "inactive_file ");  // reclaimed first
  const uint64_t limit = strtoull(maximum_text.text, nullptr, 10) + (cached < now ? cached : 0);
  return limit > now ? limit - now : 0;
}

// The minimum over the process's control group and its ancestors.
uint64_t left_in_groups() {
  Text own("/proc/self/cgroup");
  char* group = strstr(own.text, "0::");
  if (group == nullptr) return kUnlimited;
  group += strlen("0::");
  group[strcspn(group, "\n")] = '\0';
  uint64_t least = left_in("");
  while (group[0] != '\0' && strcmp(group, "/") != 0) {
    least = std::min(least, left_in(group));
    *strrchr(group, '/') = '\0';
  }
  return least;
}

uint64_t left_of_limits() {
  struct Limit {
    decltype(RLIMIT_AS) kind;
    int column;  // of statm: the amount that counts against the limit
  };
  const Text statm("/proc/self/statm");
  uint64_t least = kUnlimited;
  for (const Limit limited : {Limit{RLIMIT_AS, 0}, Limit{RLIMIT_DATA, 5}}) {
    struct rlimit limit;
    if (getrlimit(limited.kind, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) continue;
    char* end = nullptr;
    uint64_t pages = strtoull(statm.text, &end, 10);
    for (int column = 0; column < limited.column; ++column) pages = strtoull(end, &end, 10);
    const uint64_t used = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    least = std::min(least, limit.rlim_cur > used ? limit.rlim_cur - used : 0);
  }
  return least;
}

}  // namespace

uint64_t memory_room() { return std::min({available(), left_in_groups(), left_of_limits()}); }

}  // namespace halo::litter
