// Finds the plan's modules among those loaded, by build-id, and updates the table as modules are
// loaded and unloaded (docs/decisions/0009-modules.md).
#pragma once

#include <link.h>

#include <cstdint>

#include "runtime/base/exported.h"
#include "runtime/code/build_id.h"

namespace halo::runtime {

// Whether the plan was made for the executable of this process; also if it names no executable.
Match match_program();

// The number of the plan's modules whose build-id another loaded module has: one with other
// content.
unsigned unlike_modules();

// The number of the plan's groups, set by open_groups.
HALO_HIDDEN extern constinit uint32_t open_group_count;

// Reserves the arena for the groups, once. Returns false if address space is lacking.
bool open_groups();

// Called for every loaded module, of the plan or not, before the first allocation of its callers is
// grouped. For a module of a dlopen, that is before its code runs, in its thread, with the linker's
// lock held. It may be called twice for a module. Register it before publish_table.
using LoadedListener = void (*)(const dl_phdr_info& module);
void set_loaded_listener(LoadedListener listener);

// Called when a module of the plan is placed or removed; one thread at a time for each module. For
// a module of a dlopen, that is before its code runs. Register it before publish_table.
struct ModulePlace {
  uintptr_t bias;
  bool present;
};
using PlaceListener = void (*)(uint32_t module, ModulePlace place);
void set_place_listener(PlaceListener listener);

// Scans the loaded modules and publishes a table for them; the first match opens the groups. Called
// once, at the start; modules loaded by then are taken to stay. Returns the number of loaded
// modules of the plan; 0 also if memory is refused.
unsigned publish_table();

// Whether a module of the plan is loaded at that bias.
bool is_planned(uintptr_t bias);

// Aligns later blocks of all groups to 16 bytes. In a signal handler that has interrupted a change
// of the table, at the end of that change.
void align_table_to_16();

// Whether a table was published.
bool follows_modules();

// Scans for modules loaded since the last scan. The calling thread must satisfy
// is_mapping_modules().
void inspect_modules(int thread);

// Whether inspect_modules has found modules that are not recognised yet: their dlopen may fail.
bool expects_modules();

// Recognises the expected modules that are registered by now. Any thread may call it at any time;
// it skips the work if a lock is held.
void recognise_expected();

// Likewise, and drops those that the finished dlopen of this thread has not kept. Returns false,
// and does nothing, if another thread is changing modules.
bool finish_expected(int thread);

// Called before and after a dlclose. Modules that were loaded later are not recognised in between;
// those that were unloaded are removed afterwards.
void suspend_modules();
void resume_modules();

// Forwards the dynamic linker's own allocations, or ends that.
void silence_linker(bool silent);

// Called in a forked child: other threads' calls of dlopen and dlclose do not exist there.
// `is_closing`: whether this thread is inside dlclose.
void drop_other_threads(bool is_closing);

}  // namespace halo::runtime
