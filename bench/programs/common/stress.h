// What the stress programs share: blocks, the arrays that hold them, resident memory, the result.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "common/args.h"
#include "common/memory.h"
#include "common/rng.h"
#include "micro/clock.h"

namespace stress {

// Bytes of all arrays of blocks: not the allocator's, so they are not a part of the result.
inline size_t array_bytes = 0;

// An array of blocks that the allocator does not see; it begins with null pointers.
class Blocks {
 public:
  explicit Blocks(size_t count) : count_(count) {
    void* memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    blocks_ = static_cast<void**>(require_memory(memory == MAP_FAILED ? nullptr : memory));
    array_bytes += bytes();
  }
  ~Blocks() {
    array_bytes -= bytes();
    munmap(blocks_, bytes());
  }
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  void*& operator[](size_t at) { return blocks_[at]; }
  size_t size() const { return count_; }
  void** begin() { return blocks_; }
  void** end() { return blocks_ + count_; }
  void free_all() {
    for (void*& block : *this) {
      std::free(block);
      block = nullptr;
    }
  }

 private:
  size_t bytes() const { return (count_ * sizeof(void*) + 4095) & ~size_t{4095}; }

  size_t count_;
  void** blocks_;
};

// Sizes are drawn between the two, inclusive.
struct Sizes {
  size_t smallest;
  size_t largest;

  size_t draw(Rng& rng) const {
    return smallest + rng_below(&rng, static_cast<uint32_t>(largest - smallest + 1));
  }
};

// Ends the program with a sentence if the largest is smaller than the smallest.
inline Sizes read_sizes(const Argument& smallest, const Argument& largest) {
  if (largest.value < smallest.value) {
    std::fprintf(stderr, "expected %s to be at least %s.\n", largest.name, smallest.name);
    std::exit(2);
  }
  return {static_cast<size_t>(smallest.value), static_cast<size_t>(largest.value)};
}

// Writes to the first and to the last byte, as a program would before it needs the block.
inline void* touch(void* block, size_t bytes) {
  static_cast<char*>(require_memory(block))[0] = 1;
  static_cast<char*>(block)[bytes - 1] = 1;
  return block;
}

inline void* make_block(size_t bytes) { return touch(std::malloc(bytes), bytes); }

// A field of a file in /proc, in bytes. The file is read without streams, which would allocate.
inline long read_kilobytes(const char* path, const char* field) {
  char text[4096];
  const int file = open(path, O_RDONLY);
  const ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
  close(file);
  if (length < 0) {
    return 0;
  }
  text[length] = '\0';
  const char* found = std::strstr(text, field);
  return found == nullptr ? 0 : std::strtol(found + std::strlen(field), nullptr, 10) * 1024;
}

// smaps_rollup is exact; the counters in statm lag behind by some pages a processor.
inline long resident_bytes() {
  return read_kilobytes("/proc/self/smaps_rollup", "\nRss:") - static_cast<long>(array_bytes);
}

// Not of getrusage, whose peak includes that of the process before it executed this program.
inline long peak_bytes() { return read_kilobytes("/proc/self/status", "\nVmHWM:"); }

// Waits, and allocates a little of several sizes meanwhile: allocators purge memory during a
// later call.
inline void rest(long milliseconds) {
  const timespec millisecond = {0, 1000000};
  for (long i = 0; i < milliseconds; ++i) {
    nanosleep(&millisecond, nullptr);
    std::free(make_block(size_t{16} << (i % 8)));
  }
}

// Time of the pattern: on the wall, and of all threads on a processor.
class Stopwatch {
 public:
  void start() {
    wall_ -= wall_ns();
    cpu_ -= clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  }
  void stop() {
    wall_ += wall_ns();
    cpu_ += clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  }
  double wall() const { return wall_; }
  double cpu() const { return cpu_; }

 private:
  double wall_ = 0;
  double cpu_ = 0;
};

// The result of a run: one line of JSON.
class Result {
 public:
  // Reads the peak, before the arrays are freed.
  Result(std::string_view pattern, const Stopwatch& spent, uint64_t operations)
      : peak_(peak_bytes() - static_cast<long>(array_bytes)) {
    line_ = "{\"pattern\": \"" + std::string(pattern) + '"';
    add("seconds", spent.wall() / 1e9);
    add("cpu_seconds", spent.cpu() / 1e9);
    add("operations", static_cast<double>(operations));
  }

  void add(std::string_view name, double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.12g", value);
    add_text(name, text);
  }

  void add_text(std::string_view name, std::string_view text) {
    line_ += ", \"" + std::string(name) + "\": " + std::string(text);
  }

  // `after`: the resident memory after the pattern.
  void print(long after) {
    add("peak_rss_bytes", static_cast<double>(std::max(peak_, after)));
    add("after_rss_bytes", static_cast<double>(after));
    std::puts((line_ + '}').c_str());
  }

 private:
  long peak_;
  std::string line_;
};

}  // namespace stress
