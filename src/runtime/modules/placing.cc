// Changes the table in place as modules are loaded, moved and unloaded; identifier.h states the
// rules for concurrent readers.
#include "runtime/identify/identifier.h"

namespace halo::runtime {
namespace {

// Release: a reader that sees the address also sees all earlier stores.
void set_address(Table& table, const Placed& placed, uintptr_t address) {
  __atomic_store_n(&table.states[placed.state].address, address, __ATOMIC_RELEASE);
  if (placed.is_first_child)
    __atomic_store_n(&table.states[placed.state - 1].child_address, address, __ATOMIC_RELEASE);
}

// The addresses that walks reach only through other states of the module.
void set_inner_addresses(Table& table, ModuleStates& module, uintptr_t bias) {
  if (module.bias == bias) return;
  module.bias = kNoAddress;  // while they change, also for a child that is forked meanwhile
  for (uint32_t i = module.begin; i < module.entries; ++i)
    set_address(table, table.placed[i], bias + table.placed[i].offset);
  module.bias = bias;
}

CallerCode aligned_to_16(CallerCode code) {
  return is_decided(code) ? static_cast<CallerCode>(code | kCodeAlign16) : code;
}

}  // namespace

void place_module(Table& table, uint32_t number, uintptr_t bias) {
  ModuleStates& module = table.modules[number];
  set_inner_addresses(table, module, bias);
  module.is_placed = true;  // from here on, also for a child that is forked meanwhile
  for (uint32_t i = module.entries; i < module.decided; ++i)
    set_address(table, table.placed[i], bias + table.placed[i].offset);
  for (uint32_t i = module.entries; i < module.end; ++i) {
    const Placed& placed = table.placed[i];
    if (placed.code != kCodeForward) add_caller({bias + placed.offset, placed.code});
  }
}

void remove_module(Table& table, uint32_t number) {
  ModuleStates& module = table.modules[number];
  if (!module.is_placed) return;
  // In descending order, so that chains of words empty their slots.
  for (uint32_t i = module.end; i-- > module.entries;) {
    const Placed& placed = table.placed[i];
    if (placed.code != kCodeForward) remove_caller(module.bias + placed.offset);
  }
  for (uint32_t i = module.entries; i < module.decided; ++i)
    set_address(table, table.placed[i], kAbsentAddress);
  module.is_placed = false;
}

void align_states_to_16(Table& table, uint32_t silent) {
  for (size_t i = 0; i < table.state_count; ++i) {
    State& state = table.states[i];
    __atomic_store_n(&state.code, aligned_to_16(state.code), __ATOMIC_RELAXED);
  }
  for (uint32_t number = 0; number < table.module_count; ++number) {
    const ModuleStates& module = table.modules[number];
    for (uint32_t i = module.begin; i < module.end; ++i) {
      Placed& placed = table.placed[i];
      placed.code = aligned_to_16(placed.code);
      const bool is_found = i >= module.entries && module.is_placed && number != silent;
      if (is_found && is_decided(placed.code))
        add_caller({module.bias + placed.offset, placed.code});
    }
  }
}

void silence_callers(Table& table, uint32_t number, bool silent) {
  const ModuleStates& module = table.modules[number];
  for (uint32_t i = module.entries; i < module.end && module.is_placed; ++i) {
    const Placed& placed = table.placed[i];
    if (placed.code != kCodeForward)
      add_caller({module.bias + placed.offset, silent ? kCodeForward : placed.code});
  }
}

}  // namespace halo::runtime
