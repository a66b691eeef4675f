// Makes the runtime's memory system calls fail on demand. A program that links faults.cc has its
// own mmap, munmap, mprotect and madvise; the C library's allocator uses internal ones and is
// spared.
#pragma once

namespace halo::fuzz {

// After `passing` more calls, `failing` calls fail with ENOMEM.
void arm_faults(unsigned passing, unsigned failing);
void disarm_faults();

// Calls that were made to fail so far.
unsigned faults_struck();

}  // namespace halo::fuzz
