// The symbols of modules, compared with the dynamic linker's look-ups.
#include "runtime/modules/loaded_module.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halo::runtime {
namespace {

int copy_info(dl_phdr_info* info, size_t, void* data) {
  static_cast<std::vector<dl_phdr_info>*>(data)->push_back(*info);
  return 0;
}

std::vector<dl_phdr_info> loaded() {
  std::vector<dl_phdr_info> infos;
  dl_iterate_phdr(copy_info, &infos);
  return infos;
}

TEST(LoadedModule, FindsWhatTheDynamicLinkerFinds) {
  int found = 0;
  for (const char* name : {"malloc", "memcpy", "_Znwm", "dl_iterate_phdr", "qsort", "absent"}) {
    void* const first = dlsym(RTLD_DEFAULT, name);
    for (const dl_phdr_info& info : loaded()) {
      const LoadedModule module(info);
      const ElfW(Sym)* symbol = module.find(name);
      if (symbol == nullptr) continue;
      ASSERT_NE(first, nullptr) << name;
      EXPECT_STREQ(module.strings + symbol->st_name, name);
      EXPECT_TRUE(module.contains(module.bias + symbol->st_value));
      ++found;
    }
  }
  EXPECT_GE(found, 5);
}

bool is_among(std::span<const ElfW(Sym)> symbols, const LoadedModule& module,
              std::string_view name) {
  return std::ranges::any_of(
      symbols, [&](const auto& symbol) { return name == module.strings + symbol.st_name; });
}

// Each symbol that a slot leads to is in the table, or among those that it lacks.
TEST(LoadedModule, HasEverySymbolThatItRefersTo) {
  size_t hashed = 0, others = 0;
  for (const dl_phdr_info& info : loaded()) {
    const LoadedModule module(info);
    const auto without = module.without_hash();
    if (without.empty()) continue;
    for (const ElfW(Rela) & relocation : module.jump_slots) {
      if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_JUMP_SLOT) continue;
      const std::string name(module.symbol_of(relocation));
      const bool is_hashed = module.look_up(SymbolName(name.c_str())) != nullptr;
      EXPECT_TRUE(is_hashed || is_among(without, module, name)) << info.dlpi_name << ' ' << name;
      ++(is_hashed ? hashed : others);
    }
    for (const ElfW(Sym) & symbol : without) EXPECT_EQ(symbol.st_shndx, SHN_UNDEF);
  }
  EXPECT_GT(hashed, 0u);
  EXPECT_GT(others, 20u);
}

TEST(LoadedModule, SlotsOfCallsLeadIntoModules) {
  size_t slots = 0;
  const std::vector<dl_phdr_info> infos = loaded();
  for (const dl_phdr_info& info : infos) {
    const LoadedModule module(info);
    for (const ElfW(Rela) & relocation : module.jump_slots) {
      if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_JUMP_SLOT) continue;
      const uintptr_t target = *module.slot_of(relocation);
      bool is_inside = target == 0;
      for (const dl_phdr_info& other : infos) is_inside |= LoadedModule(other).contains(target);
      EXPECT_TRUE(is_inside) << info.dlpi_name << ' ' << module.symbol_of(relocation);
      ++slots;
    }
  }
  EXPECT_GT(slots, 20u);
}

TEST(ModuleWriter, WritesReadOnlyWordsAndClosesTheirPages) {
  for (const dl_phdr_info& info : loaded()) {
    const LoadedModule module(info);
    for (const ElfW(Rela) & relocation : module.data) {
      uintptr_t* const slot = module.slot_of(relocation);
      const auto at = reinterpret_cast<uintptr_t>(slot);
      if (at < module.relro_begin || at >= module.relro_end) continue;
      {
        ModuleWriter writer(module);
        EXPECT_TRUE(writer.write(slot, *slot));
      }
      EXPECT_EXIT(
          {
            signal(SIGSEGV, SIG_DFL);  // a sanitizer has a handler
            *const_cast<volatile uintptr_t*>(slot) = *slot;
            _exit(0);
          },
          testing::KilledBySignal(SIGSEGV), "");
      return;
    }
  }
  FAIL() << "no module has a read-only slot";
}

TEST(ModuleWriter, RefusesSegmentsThatAreNotWritable) {
  size_t refused = 0;
  for (const dl_phdr_info& info : loaded()) {
    const LoadedModule module(info);
    const auto symbols = reinterpret_cast<uintptr_t>(module.symbols);
    if (!module.contains(symbols) || (module.protection_of(symbols) & PROT_WRITE) != 0) continue;
    auto* const word = const_cast<uintptr_t*>(reinterpret_cast<const uintptr_t*>(module.symbols));
    ModuleWriter writer(module);
    EXPECT_FALSE(writer.write(word, *word));
    ++refused;
  }
  EXPECT_GT(refused, 2u);
}

}  // namespace
}  // namespace halo::runtime
