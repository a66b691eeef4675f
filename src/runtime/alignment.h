// Whether blocks may lie at multiples of eight (docs/alignment.md): only while the plan has checked
// the code of every module in the process, and the instructions that it names are relaxed.
#pragma once

#include <link.h>

#include <atomic>

#include "plan/plan_file.h"
#include "runtime/exported.h"

namespace halo::runtime {

// Whether every block is aligned to 16 bytes, whatever the plan says. Once true, it stays so.
HALO_HIDDEN extern constinit std::atomic<bool> all_to_16;
inline bool aligns_all_to_16() { return all_to_16.load(std::memory_order_relaxed); }

// Checks the modules that are loaded, and relaxes them if all are known to the plan. Before the
// first block is served. Calls dl_iterate_phdr.
void begin_alignment(const plan::PlanView& plan);

// The same for one that comes later, before its code runs. Returns false, and aligns all to 16,
// if the plan does not know it or its code cannot be written; blocks served before stay as they
// are. One thread at a time.
bool check_alignment_of(const dl_phdr_info& module);

// Bytes of code that were changed so far.
unsigned long relaxed_instructions();

}  // namespace halo::runtime
