#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "runtime/entry/allocators/allocators.h"
#include "runtime/entry/allocators/interface.h"
#include "runtime/modules/loaded_module.h"
#include "runtime/pages/page.h"

namespace halo::runtime {
namespace {

constexpr auto kInterfaces = std::to_array<const AllocatorInterface*>(
    {&kJemallocInterface, &kMimallocInterface, &kGperftoolsInterface});

// The first module that defines an allocator's mark, and malloc: of an allocator that does not
// serve malloc, the program has only blocks that it asked it for. A look-up by dlsym would allocate
// its message if there is none.
struct Search {
  SymbolName mark;
  bool is_found;
  dl_phdr_info found;
};

int find_library(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const LoadedModule module(*info);
  if (module.find(search.mark) == nullptr || module.find(SymbolName("malloc")) == nullptr) return 0;
  search.found = *info;
  search.is_found = true;
  return 1;
}

// The names of an allocator's functions to replace, sorted.
class Names {
 public:
  explicit Names(std::span<const InterfaceFunction> functions) {
    for (const InterfaceFunction& function : functions)
      if (function.ours != nullptr) names_[count_++] = SymbolName(function.name);
    std::ranges::sort(names_.begin(), names_.begin() + count_, {}, &SymbolName::text);
  }

  // Whether a slot of the module may lead to one of them. Most modules refer to none, and some have
  // very many slots.
  bool are_in(const LoadedModule& module) const {
    const auto undefined = module.without_hash();
    if (undefined.empty()) return true;
    const std::span names(names_.begin(), count_);
    const auto is_one = [&](const ElfW(Sym) & symbol) {
      const std::string_view name(module.strings + symbol.st_name);
      return std::ranges::binary_search(names, name, {}, &SymbolName::text);
    };
    return std::ranges::any_of(undefined, is_one) ||
           std::ranges::any_of(names,
                               [&](const auto& name) { return module.look_up(name) != nullptr; });
  }

 private:
  std::array<SymbolName, AllocatorInterface::kMaxFunctions> names_;
  size_t count_ = 0;
};

// An allocator's library, and the functions in it to replace.
struct Replacing {
  const AllocatorInterface& interface;
  const LoadedModule& library;
  uintptr_t own_module;
  const Names& names;
  bool failed;
};

uintptr_t address_of(const LoadedModule& library, const ElfW(Sym) & symbol) {
  return library.bias + symbol.st_value;
}

bool is_plain_function(const ElfW(Sym) * symbol) {
  return symbol != nullptr && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
}

// Sets the native functions that the library has. Returns the range of their symbols.
std::span<const ElfW(Sym)> find_natives(const AllocatorInterface& interface,
                                        const LoadedModule& library) {
  const ElfW(Sym)* first = nullptr;
  const ElfW(Sym)* last = nullptr;
  for (const InterfaceFunction& function : interface.functions) {
    const ElfW(Sym)* symbol = library.find(function.name);
    if (!is_plain_function(symbol)) continue;
    *function.native = reinterpret_cast<void*>(address_of(library, *symbol));
    if (function.ours == nullptr) continue;
    first = first == nullptr ? symbol : std::min(first, symbol);
    last = last == nullptr ? symbol : std::max(last, symbol);
  }
  return first == nullptr ? std::span<const ElfW(Sym)>{} : std::span{first, last + 1};
}

// Sets the addresses of the symbols, which look-ups read, to ours. Not where they lie among code,
// as linkers can place them: no page is ever writable and executable.
bool replace_symbols(const AllocatorInterface& interface, const LoadedModule& library,
                     std::span<const ElfW(Sym)> symbols) {
  const int protection = library.protection_of(reinterpret_cast<uintptr_t>(symbols.data()));
  if ((protection & PROT_EXEC) != 0) return false;
  const auto begin = reinterpret_cast<uintptr_t>(symbols.data()) & ~(kSystemPage - 1);
  const size_t bytes = reinterpret_cast<uintptr_t>(&*symbols.end()) - begin;
  auto* const pages = reinterpret_cast<void*>(begin);
  if (mprotect(pages, bytes, protection | PROT_WRITE) != 0) return false;
  for (const InterfaceFunction& function : interface.functions) {
    const ElfW(Sym)* symbol = function.ours == nullptr ? nullptr : library.find(function.name);
    if (!is_plain_function(symbol)) continue;
    auto* const value = const_cast<ElfW(Addr)*>(&symbol->st_value);
    __atomic_store_n(value, reinterpret_cast<uintptr_t>(function.ours) - library.bias,
                     __ATOMIC_RELEASE);
  }
  return mprotect(pages, bytes, protection) == 0;
}

// What the slot of that relocation is offset by from its symbol's address; -1 if it is of another
// kind.
int64_t offset_of(const ElfW(Rela) & relocation) {
  switch (ELF64_R_TYPE(relocation.r_info)) {
    case R_X86_64_JUMP_SLOT:
    case R_X86_64_GLOB_DAT:
      return 0;
    case R_X86_64_64:
      return relocation.r_addend;
    default:
      return -1;
  }
}

// The replaced function that the slot leads to; null if it leads elsewhere, such as to code that
// binds it at the first call. Several names may have one address: the slot's own is meant.
const InterfaceFunction* function_of(const Replacing& replacing, const LoadedModule& module,
                                     const ElfW(Rela) & relocation) {
  if (offset_of(relocation) != 0) return nullptr;
  const uintptr_t now = __atomic_load_n(module.slot_of(relocation), __ATOMIC_RELAXED);
  if (!replacing.library.contains(now)) return nullptr;
  const std::string_view name = module.symbol_of(relocation);
  for (const InterfaceFunction& function : replacing.interface.functions)
    if (function.ours != nullptr && name == function.name &&
        reinterpret_cast<uintptr_t>(*function.native) == now)
      return &function;
  return nullptr;
}

int rebind_module(dl_phdr_info* info, size_t, void* data) {
  auto& replacing = *static_cast<Replacing*>(data);
  const LoadedModule module(*info);
  if (module.contains(replacing.own_module) || module.bias == replacing.library.bias) return 0;
  if (!replacing.names.are_in(module)) return 0;
  ModuleWriter writer(module);
  for (const auto relocations : {module.jump_slots, module.data})
    for (const ElfW(Rela) & relocation : relocations) {
      const InterfaceFunction* function = function_of(replacing, module, relocation);
      if (function == nullptr) continue;
      if (writer.write(module.slot_of(relocation), reinterpret_cast<uintptr_t>(function->ours)))
        continue;
      replacing.failed = true;
      return 1;
    }
  return 0;
}

bool replace(const AllocatorInterface& interface) {
  Search search{SymbolName(interface.mark), false, {}};
  dl_iterate_phdr(find_library, &search);
  if (!search.is_found) return true;
  const LoadedModule library(search.found);
  const auto symbols = find_natives(interface, library);
  if (symbols.empty()) return true;
  if (!replace_symbols(interface, library, symbols)) return false;
  const Names names(interface.functions);
  Replacing replacing{interface, library, reinterpret_cast<uintptr_t>(&replace_interfaces), names,
                      false};
  dl_iterate_phdr(rebind_module, &replacing);
  return !replacing.failed && (interface.finish == nullptr || interface.finish(library));
}

}  // namespace

bool replace_interfaces() {
  return std::ranges::all_of(kInterfaces, [](auto* at) { return replace(*at); });
}

}  // namespace halo::runtime
