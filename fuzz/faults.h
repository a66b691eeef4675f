// Makes the runtime's memory system calls fail on demand.
#pragma once

// A program that links faults.cc has its own mmap, munmap, mprotect and madvise. The C library's
// allocator uses internal ones and is not affected.
namespace halo::fuzz {

// After `passing` more calls, `failing` calls fail with ENOMEM.
void arm_faults(unsigned passing, unsigned failing);
void disarm_faults();

// The number of calls that failed so far.
unsigned faults_struck();

}  // namespace halo::fuzz
