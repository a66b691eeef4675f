#include "runtime/lifecycle/detach.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/bootstrap.h"
#include "base/old_c_library.h"
#include "base/own_module.h"
#include "runtime/base/exports.h"
#include "runtime/modules/loaded_module.h"

namespace halo::runtime {
namespace {

#define HALO_NAME(symbol, ...) #symbol,
constexpr auto kNames = std::to_array<std::string_view>(
    {HALO_EXPORTED_OPERATORS(HALO_NAME) HALO_EXPORTED_FUNCTIONS(HALO_NAME)});
#undef HALO_NAME
static_assert(std::ranges::is_sorted(kNames));

// One of the runtime's functions and the next one of its name; both 0 if a call must not bypass the
// runtime.
struct Binding {
  uintptr_t ours;
  uintptr_t next;
};

Binding binding_of(const char* name) {
  void* first = find_symbol(RTLD_DEFAULT, name);
  void* next = find_symbol(RTLD_NEXT, name);
  if (next == nullptr || !is_in_own_module(first)) return {0, 0};
  return {reinterpret_cast<uintptr_t>(first), reinterpret_cast<uintptr_t>(next)};
}

using Bindings = std::array<Binding, kNames.size()>;

// Where the call of that jump slot shall lead, if it leads to the runtime, now or once it is
// resolved; else 0.
uintptr_t target_of(const LoadedModule& module, const ElfW(Rela) & relocation,
                    const Bindings& bindings) {
  if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_JUMP_SLOT) return 0;
  const std::string_view name = module.symbol_of(relocation);
  const auto* found = std::ranges::lower_bound(kNames, name);
  if (found == kNames.end() || *found != name) return 0;
  const Binding& binding = bindings[static_cast<size_t>(found - kNames.begin())];
  const uintptr_t now = *module.slot_of(relocation);
  const bool unresolved = !module.symbolic && module.contains(now);
  return now == binding.ours || unresolved ? binding.next : 0;
}

int rebind_module(dl_phdr_info* info, size_t, void* data) {
  const auto& bindings = *static_cast<const Bindings*>(data);
  const LoadedModule module(*info);
  if (module.contains(reinterpret_cast<uintptr_t>(&detach))) return 0;
  ModuleWriter writer(module);
  for (const ElfW(Rela) & relocation : module.jump_slots)
    if (const uintptr_t target = target_of(module, relocation, bindings); target != 0)
      if (!writer.write(module.slot_of(relocation), target)) return 0;
  return 0;
}

}  // namespace

void detach() {
  // The next allocator must not receive bootstrap blocks.
  if (bootstrap_was_used()) return;
  Bindings bindings;
  for (size_t i = 0; i < kNames.size(); ++i) bindings[i] = binding_of(kNames[i].data());
  dl_iterate_phdr(rebind_module, &bindings);
}

}  // namespace halo::runtime
