// Changes the table in place as modules come, move and go; what readers may see meanwhile is said
// in identifier.h.
#include "runtime/identifier.h"

namespace halo::runtime {
namespace {

void set_address(Table& table, const Placed& placed, std::uintptr_t address) {
  __atomic_store_n(&table.states[placed.state].address, address, __ATOMIC_RELAXED);
  if (placed.is_first_child)
    __atomic_store_n(&table.states[placed.state - 1].child_address, address, __ATOMIC_RELAXED);
}

// The addresses that are only reached through others of the module.
void set_inner_addresses(Table& table, ModuleStates& module, std::uintptr_t bias) {
  if (module.bias == bias) return;
  module.bias = no_address;  // until it is true, also in a child that is forked meanwhile
  for (std::uint32_t i = module.begin; i < module.entries; ++i)
    set_address(table, table.placed[i], bias + table.placed[i].offset);
  module.bias = bias;
}

}  // namespace

void place_module(Table& table, std::uint32_t number, std::uintptr_t bias) {
  ModuleStates& module = table.modules[number];
  set_inner_addresses(table, module, bias);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  for (std::uint32_t i = module.entries; i < module.end; ++i)
    set_address(table, table.placed[i], bias + table.placed[i].offset);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  for (std::uint32_t i = module.entries; i < module.end; ++i) {
    const Placed& placed = table.placed[i];
    if (placed.code != code_forward) add_caller({bias + placed.offset, placed.code});
  }
}

void remove_module(Table& table, std::uint32_t number) {
  const ModuleStates& module = table.modules[number];
  // Downwards, so that words that lie together empty their slots.
  for (std::uint32_t i = module.end; i-- > module.entries;) {
    const Placed& placed = table.placed[i];
    const std::uintptr_t address = table.states[placed.state].address;
    if (address == absent_address) continue;
    if (placed.code != code_forward) remove_caller(address);
    set_address(table, placed, absent_address);
  }
}

void silence_callers(Table& table, std::uint32_t number, bool silent) {
  const ModuleStates& module = table.modules[number];
  for (std::uint32_t i = module.entries; i < module.end; ++i) {
    const Placed& placed = table.placed[i];
    if (placed.code == code_forward) continue;
    const std::uintptr_t address = table.states[placed.state].address;
    if (address != absent_address) add_caller({address, silent ? code_forward : placed.code});
  }
}

}  // namespace halo::runtime
