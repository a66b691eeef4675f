// Finds the plan's modules among those loaded, by build-id, and keeps the table true as modules
// come and go.
#pragma once

#include <cstdint>
#include <span>

#include "plan/plan_file.h"
#include "runtime/exported.h"
#include "runtime/identifier.h"

namespace halo::runtime {

// Whether the plan was made for the executable of this process, or names none.
bool is_for_this_program(const plan::PlanView& plan);

// The plan's groups, once open_groups has made their range.
HALO_HIDDEN extern constinit std::uint32_t open_group_count;

// Makes the range that the groups' objects go to, once; false where there is no room for it.
bool open_groups(const plan::PlanView& plan);

// Looks at the loaded modules and publishes a table for them, opening the groups for the first.
// Returns how many of the plan's modules are loaded; 0 also where the groups cannot be opened.
// Calls dl_iterate_phdr: never on the allocation path but after a dlopen.
unsigned publish_table(const plan::PlanView& plan);

// Is told where the plan's modules are each time they have been looked at, the groups being open.
using PlacesListener = void (*)(std::span<const ModulePlace> places);
void tell_places(PlacesListener listener);

// Prepares for threads that end and processes that fork while modules change. Once.
void watch_modules();

// The calling thread is about to enter dlopen or dlclose, whose return address lies at `slot`. When
// it allocates again from further up its stack, the call has returned, and the modules are looked
// at again. (Doing so inside dlopen would hold or wait for the linker's lock; calling dlopen from a
// function of ours would change whose RUNPATH it uses.)
void expect_module_change(const std::uintptr_t* slot);

// dlclose comes next: only modules that were there at the start keep being recognised until the
// rescan, since the others may be gone.
void distrust_late_modules();

}  // namespace halo::runtime
