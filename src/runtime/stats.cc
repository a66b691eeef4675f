// Statistics as JSON, made with a fixed buffer and write(2).
#include "runtime/stats.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "runtime/arena.h"
#include "runtime/check.h"
#include "runtime/thread_heap.h"

namespace halo::runtime {
namespace {

class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}
  ~Output() { flush(); }

  __attribute__((format(printf, 2, 3))) void print(const char* format, ...) {
    if (sizeof buffer_ - used_ < 512) flush();
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(buffer_ + used_, sizeof buffer_ - used_, format, arguments);
    va_end(arguments);
    if (n > 0) used_ += static_cast<std::size_t>(n);
  }

 private:
  void flush() {
    for (std::size_t done = 0; done < used_;) {
      const ssize_t n = write(fd_, buffer_ + done, used_ - done);
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
    used_ = 0;
  }

  int fd_;
  std::size_t used_ = 0;
  char buffer_[4096];
};

struct Totals {
  std::uint64_t allocations = 0, live = 0, peak = 0, chunks = 0;
};

Totals totals_of(GroupShape shape) {
  Totals sum;
  for (const ThreadHeap* t = first_thread_heap(); t != nullptr; t = t->next()) {
    for (std::uint32_t at = shape.first_heap; at < shape.first_heap + shape.heaps; ++at) {
      const GroupHeap* heap = t->existing(at);
      if (heap == nullptr) continue;
      sum.allocations += heap->allocations();
      sum.live += heap->live_bytes();
      sum.peak += heap->peak_bytes();
      sum.chunks += heap->chunks();
    }
  }
  return sum;
}

struct Memory {
  std::uint64_t resident = 0, huge = 0;  // bytes
};

// Sums Rss and AnonHugePages of the arena's mappings, in a streaming parse of smaps.
class SmapsParser {
 public:
  void line(const char* text) {
    std::uint64_t from, to, kib;
    if (sscanf(text, "%lx-%lx ", &from, &to) == 2)
      inside_ = from >= arena.base() && to <= arena.base() + arena.bytes();
    else if (inside_ && sscanf(text, "Rss: %lu kB", &kib) == 1)
      memory.resident += kib * 1024;
    else if (inside_ && sscanf(text, "AnonHugePages: %lu kB", &kib) == 1)
      memory.huge += kib * 1024;
  }
  Memory memory;

 private:
  bool inside_ = false;
};

Memory arena_memory() {
  SmapsParser parser;
  if (arena.bytes() == 0) return {};
  const int fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  char buffer[4096], text[512];
  std::size_t length = 0;
  for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) > 0;) {
    for (ssize_t i = 0; i < n; ++i) {
      if (buffer[i] == '\n') {
        text[length] = '\0';
        parser.line(text);
        length = 0;
      } else if (length + 1 < sizeof text) {
        text[length++] = buffer[i];
      }
    }
  }
  close(fd);
  return parser.memory;
}

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

int open_output(const char* path) {
  char name[4096];
  const char* mark = strstr(path, "%p");
  if (mark == nullptr)
    snprintf(name, sizeof name, "%s", path);
  else
    snprintf(name, sizeof name, "%.*s%d%s", static_cast<int>(mark - path), path, getpid(),
             mark + 2);
  return open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

}  // namespace

void write_stats(const char* path, const char* reason, std::size_t groups) {
  const double start = now();
  const int fd = open_output(path);
  if (fd < 0) return;
  {
    Output out(fd);
    out.print("{\"active\": %s, \"reason\": \"%s\", \"groups\": [",
              reason == nullptr ? "true" : "false", reason == nullptr ? "" : reason);
    for (std::uint32_t i = 0; group_shapes != nullptr && i < groups; ++i) {
      const Totals t = totals_of(group_shapes[i]);
      out.print(
          "%s{\"allocations\": %lu, \"live_bytes\": %lu, \"peak_bytes\": %lu, \"chunks\": %lu}",
          i == 0 ? "" : ", ", t.allocations, t.live, t.peak, t.chunks);
    }
    const Memory memory = arena_memory();
    const CheckCounts check = check_counts();
    out.print("], \"resident_bytes\": %lu, \"huge_bytes\": %lu, ", memory.resident, memory.huge);
    out.print("\"checked_walks\": %lu, \"differences\": %lu, \"report_seconds\": %.6f}\n",
              check.walks, check.differences, now() - start);
  }
  close(fd);
}

}  // namespace halo::runtime
