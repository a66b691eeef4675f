#include "runtime/modules/taken_calls.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/old_c_library.h"
#include "base/own_module.h"
#include "runtime/modules/loaded_module.h"
#include "runtime/modules/modules.h"

namespace halo::runtime {
namespace {

constinit char taker[512]{};

bool allocates(std::string_view name) {
  constexpr std::string_view kNames[] = {"malloc", "calloc", "realloc", "_Znwm", "_Znam"};
  return std::ranges::find(kNames, name) != std::ranges::end(kNames);
}

// The linker's other lock is not taken while its list is locked: dlopen and dlclose take both in
// the other order. So the target is named later.
struct Search {
  LoadedModule program;  // its PLT entries are the addresses of functions if it is not relocatable
  uintptr_t target = 0;
};

bool is_taken(const LoadedModule& module, const ElfW(Rela) & relocation, const Search& search) {
  const auto kind = ELF64_R_TYPE(relocation.r_info);
  if (kind != R_X86_64_JUMP_SLOT && kind != R_X86_64_GLOB_DAT) return false;
  if (!allocates(module.symbol_of(relocation))) return false;
  const uintptr_t target = *module.slot_of(relocation);
  if (target == 0 || module.contains(target) || search.program.contains(target)) return false;
  return !is_in_own_module(reinterpret_cast<void*>(target));
}

const char* name_taker(uintptr_t target) {
  Dl_info info;
  const bool is_library = halo::find_module(reinterpret_cast<void*>(target), info);
  snprintf(taker, sizeof taker, "%s", is_library ? info.dli_fname : "code of no library");
  return taker;
}

int inspect_calls(dl_phdr_info* info, size_t, void* data) {
  if (!is_planned(info->dlpi_addr)) return 0;
  auto& search = *static_cast<Search*>(data);
  const LoadedModule module(*info);
  for (const auto& relocations : {module.jump_slots, module.data})
    for (const ElfW(Rela) & relocation : relocations)
      if (is_taken(module, relocation, search)) {
        search.target = *module.slot_of(relocation);
        return 1;
      }
  return 0;
}

int copy_first(dl_phdr_info* info, size_t, void* data) {
  *static_cast<dl_phdr_info*>(data) = *info;
  return 1;
}

}  // namespace

const char* taker_of_calls() {
  dl_phdr_info program{};
  dl_iterate_phdr(copy_first, &program);
  Search search{LoadedModule(program)};
  return dl_iterate_phdr(inspect_calls, &search) != 0 ? name_taker(search.target) : nullptr;
}

}  // namespace halo::runtime
