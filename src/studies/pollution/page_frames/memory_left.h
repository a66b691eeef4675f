// How much memory a process may still take: scratch memory must not end the program, or others.
#pragma once

#include <cstdint>

namespace halo::frames {

// Where the kernel reports it.
struct MemoryFiles {
  const char* groups = "/proc/self/cgroup";
  const char* control = "/sys/fs/cgroup";
  const char* machine = "/proc/meminfo";
};

// Bytes until the first limit: of the machine's available memory, or of a memory control group of
// the process (version 1 or 2). Memory that a group could reclaim counts as taken. UINT64_MAX if
// the kernel reports nothing. Allocates nothing.
uint64_t memory_left(const MemoryFiles& files = {});

}  // namespace halo::frames
