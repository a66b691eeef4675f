#include "runtime/lifecycle/detach.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/bootstrap.h"
#include "runtime/base/exports.h"
#include "runtime/pages/arena.h"

namespace halo::runtime {
namespace {

#define HALO_NAME(symbol, ...) #symbol,
constexpr auto names = std::to_array<std::string_view>(
    {HALO_EXPORTED_OPERATORS(HALO_NAME) HALO_EXPORTED_FUNCTIONS(HALO_NAME)});
#undef HALO_NAME
static_assert(std::ranges::is_sorted(names));

// One of the runtime's functions and the next one of its name; both 0 if a call must not bypass the
// runtime.
struct Binding {
  std::uintptr_t ours;
  std::uintptr_t next;
};

std::uintptr_t start_of_module(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? reinterpret_cast<std::uintptr_t>(info.dli_fbase) : 0;
}

Binding binding_of(const char* name, std::uintptr_t own_module) {
  void* first = dlsym(RTLD_DEFAULT, name);
  void* next = dlsym(RTLD_NEXT, name);
  if (first == nullptr || next == nullptr || start_of_module(first) != own_module) return {0, 0};
  return {reinterpret_cast<std::uintptr_t>(first), reinterpret_cast<std::uintptr_t>(next)};
}

struct Bindings {
  std::uintptr_t own_module;
  std::array<Binding, names.size()> of;
};

// The fields of a module's dynamic section and program headers that are needed.
struct Module {
  std::uintptr_t bias;
  const ElfW(Rela) * relocations;  // of the jump slots
  std::size_t count;
  const ElfW(Sym) * symbols;
  const char* strings;
  bool symbolic;  // DF_SYMBOLIC: its own definitions take precedence
  std::uintptr_t begin, end;
  std::uintptr_t relro_begin, relro_end;  // whole pages that the dynamic linker has made read-only
};

void read_dynamic(Module& module, const ElfW(Dyn) * entry) {
  std::size_t bytes = 0;
  // glibc has relocated these addresses, except those of the vDSO.
  const auto absolute = [&](const ElfW(Dyn) & at) {
    return at.d_un.d_ptr < module.bias ? at.d_un.d_ptr + module.bias : at.d_un.d_ptr;
  };
  for (; entry->d_tag != DT_NULL; ++entry) switch (entry->d_tag) {
      case DT_JMPREL:
        module.relocations = reinterpret_cast<const ElfW(Rela)*>(absolute(*entry));
        break;
      case DT_PLTRELSZ:
        bytes = entry->d_un.d_val;
        break;
      case DT_SYMTAB:
        module.symbols = reinterpret_cast<const ElfW(Sym)*>(absolute(*entry));
        break;
      case DT_STRTAB:
        module.strings = reinterpret_cast<const char*>(absolute(*entry));
        break;
      case DT_SYMBOLIC:
        module.symbolic = true;
        break;
      case DT_FLAGS:
        module.symbolic |= (entry->d_un.d_val & DF_SYMBOLIC) != 0;
        break;
      default:
        break;
    }
  const bool whole =
      module.relocations != nullptr && module.symbols != nullptr && module.strings != nullptr;
  module.count = whole ? bytes / sizeof(ElfW(Rela)) : 0;
}

Module read_module(const dl_phdr_info& info) {
  Module module{};
  module.bias = info.dlpi_addr;
  module.begin = ~std::uintptr_t{0};
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    const std::uintptr_t begin = module.bias + part.p_vaddr;
    const std::uintptr_t end = begin + part.p_memsz;
    if (part.p_type == PT_LOAD) {
      module.begin = std::min(module.begin, begin);
      module.end = std::max(module.end, end);
    } else if (part.p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
    } else if (part.p_type == PT_GNU_RELRO) {
      module.relro_begin = begin & ~(system_page - 1);
      module.relro_end = end & ~(system_page - 1);
    }
  }
  if (dynamic != nullptr) read_dynamic(module, dynamic);
  return module;
}

// The slot of a call that leads to the runtime, now or once it is resolved, and its new target.
// Null if it is not such a slot.
std::uintptr_t* slot_of(const Module& module, const ElfW(Rela) & relocation,
                        const Bindings& bindings, std::uintptr_t& target) {
  if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_JUMP_SLOT) return nullptr;
  const std::string_view name =
      module.strings + module.symbols[ELF64_R_SYM(relocation.r_info)].st_name;
  const auto* found = std::ranges::lower_bound(names, name);
  if (found == names.end() || *found != name) return nullptr;
  const Binding& binding = bindings.of[static_cast<std::size_t>(found - names.begin())];
  auto* slot = reinterpret_cast<std::uintptr_t*>(module.bias + relocation.r_offset);
  const bool unresolved = !module.symbolic && *slot >= module.begin && *slot < module.end;
  if (binding.next == 0 || (*slot != binding.ours && !unresolved)) return nullptr;
  target = binding.next;
  return slot;
}

int rebind_module(dl_phdr_info* info, std::size_t, void* data) {
  const auto& bindings = *static_cast<const Bindings*>(data);
  const Module module = read_module(*info);
  // Skips the runtime itself, and modules that the dynamic linker never relocated.
  if (module.begin <= bindings.own_module && bindings.own_module < module.end) return 0;
  auto* relro = reinterpret_cast<void*>(module.relro_begin);
  const std::size_t relro_bytes = module.relro_end - module.relro_begin;
  bool opened = false;
  for (std::size_t i = 0; i < module.count; ++i) {
    std::uintptr_t target;
    std::uintptr_t* slot = slot_of(module, module.relocations[i], bindings, target);
    if (slot == nullptr) continue;
    const auto at = reinterpret_cast<std::uintptr_t>(slot);
    if (at - module.relro_begin < relro_bytes && !opened) {
      if (mprotect(relro, relro_bytes, PROT_READ | PROT_WRITE) != 0) return 0;
      opened = true;
    }
    __atomic_store_n(slot, target, __ATOMIC_RELAXED);
  }
  if (opened) mprotect(relro, relro_bytes, PROT_READ);
  return 0;
}

}  // namespace

void detach() {
  // The next allocator must not receive bootstrap blocks.
  if (bootstrap_was_used()) return;
  Bindings bindings;
  bindings.own_module = start_of_module(reinterpret_cast<const void*>(&detach));
  for (std::size_t i = 0; i < names.size(); ++i)
    bindings.of[i] = binding_of(names[i].data(), bindings.own_module);
  dl_iterate_phdr(rebind_module, &bindings);
}

}  // namespace halo::runtime
