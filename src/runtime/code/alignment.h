// Whether blocks may be aligned to 8 bytes only (docs/alignment.md).
#pragma once

#include <link.h>

#include <atomic>
#include <cstddef>

#include "runtime/base/exported.h"

namespace halo::runtime {

// The plan must have checked the code of every module in the process, and the instructions that it
// lists must be relaxed.
//
// Whether every block is aligned to 16 bytes, regardless of the plan. Never reset once it is true.
HALO_HIDDEN extern constinit std::atomic<bool> all_to_16;
inline bool aligns_all_to_16() { return all_to_16.load(std::memory_order_relaxed); }

// Checks the loaded modules, and relaxes them if the plan lists all of them. Must run before the
// first block is served. `generates_code`: code that the plan cannot have checked exists already.
// Calls dl_iterate_phdr.
void begin_alignment(bool generates_code);
inline constexpr const char* kProgramGeneratesCode = "the program generates code at run time";

// Checks and relaxes a module that is loaded later, before its code runs. If the plan does not list
// it or its code cannot be written, returns false and aligns all later blocks to 16. One thread at
// a time.
bool check_alignment_of(const dl_phdr_info& module);

// Forgets the modules that were checked and are not among the first `count` of the linker's list
// any more: others may come to their addresses. Calls dl_iterate_phdr.
void forget_checked_modules_but(size_t count);

// Aligns all later blocks to 16: code that the plan has not checked may run from now on. The reason
// is a clause.
void align_all_to_16(const char* reason);

// Why all blocks are aligned to 16 although the plan has checked modules; null if they are not.
const char* alignment_obstacle();

// Number of code bytes changed so far.
unsigned long relaxed_instructions();

}  // namespace halo::runtime
