// Finds the plan's modules among those loaded, by build-id, and keeps the table true as modules
// come and go (docs/decisions/0009-modules.md).
#pragma once

#include <link.h>

#include <cstdint>

#include "plan/plan_file.h"
#include "runtime/exported.h"

namespace halo::runtime {

// Whether the plan was made for the executable of this process, or names none.
bool is_for_this_program(const plan::PlanView& plan);

// The plan's groups, once open_groups has made their range.
HALO_HIDDEN extern constinit std::uint32_t open_group_count;

// Makes the range that the groups' objects go to, once; false where there is no room for it.
bool open_groups(const plan::PlanView& plan);

// Is told of every module that is loaded, of the plan or not, before the first allocation of its
// callers is grouped: of those that a dlopen brings before any of their code runs, in its thread,
// with the linker's lock held. Some may be told twice. Registered before publish_table.
using LoadedListener = void (*)(const dl_phdr_info& module);
void tell_loaded_modules(LoadedListener listener);

// Is told where a module of the plan is now, and that it is gone: by one thread at a time for a
// module. Of those that a dlopen brings before any of their code runs. Registered before
// publish_table.
struct ModulePlace {
  std::uintptr_t bias;
  bool present;
};
using PlaceListener = void (*)(std::uint32_t module, ModulePlace place);
void tell_places(PlaceListener listener);

// Looks at the loaded modules and publishes a table for them, opening the groups for the first.
// Once, at the start: what is loaded by then is taken to stay. Returns how many of the plan's
// modules are loaded; 0 also where there is no memory for them.
unsigned publish_table(const plan::PlanView& plan);

// Aligns the blocks of all groups to 16 bytes from now on.
void align_table_to_16();

// Whether there is a table to be kept true.
bool follows_modules();

// Looks for modules that have come since the last look. In a thread for which
// is_mapping_modules() holds.
void look_at_modules(int thread);

// Modules that look_at_modules has found and that are not recognised yet: their dlopen may fail.
bool expects_modules();

// Recognises those that are there to stay by now. By any thread, at any time; takes no lock that
// may be held for long, and gives up if it is held.
void recognise_expected();

// The same, and forgets those that a dlopen of this thread, which is over, has not kept. False, and
// nothing is done, if another thread is at it.
bool settle_expected(int thread);

// Around a dlclose: modules that came later are not recognised in between, and those that have gone
// are forgotten behind it.
void suspend_modules();
void resume_modules();

// What the dynamic linker itself allocates is forwarded, or grouped again.
void silence_linker(bool silent);

// In a forked child: of other threads nobody opens or closes modules any more. Whether this thread
// is inside of a dlclose.
void forget_other_threads(bool is_closing);

}  // namespace halo::runtime
