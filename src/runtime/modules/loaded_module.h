// The symbols and relocations of a loaded module, for changing where its calls lead.
#pragma once

#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/base/exported.h"

namespace halo::runtime {

// The name of a symbol, with its hash in DT_GNU_HASH.
struct SymbolName {
  SymbolName() = default;
  explicit SymbolName(const char* name);

  std::string_view text;
  uint32_t hash = 0;
};

// The fields of a module's dynamic section and program headers that are needed. Modules that the
// dynamic linker never relocated (the vDSO) have no relocations.
struct LoadedModule {
  explicit LoadedModule(const dl_phdr_info& info);

  bool contains(uintptr_t address) const { return begin <= address && address < end; }
  std::string_view symbol_of(const ElfW(Rela) & relocation) const {
    return strings + symbols[ELF64_R_SYM(relocation.r_info)].st_name;
  }
  uintptr_t* slot_of(const ElfW(Rela) & relocation) const {
    return reinterpret_cast<uintptr_t*>(bias + relocation.r_offset);
  }
  // The symbol that the module defines under that name, as the dynamic linker finds it: by the
  // table DT_GNU_HASH. Null if there is none, or no such table.
  const ElfW(Sym) * find(const SymbolName& name) const;
  const ElfW(Sym) * find(const char* name) const { return find(SymbolName(name)); }
  // The symbol of that name in the table, defined or only referred to. Null if there is none.
  const ElfW(Sym) * look_up(const SymbolName& name) const;
  // The symbols that the table lacks, none of which the module defines. Empty if their number is
  // not known.
  std::span<const ElfW(Sym)> without_hash() const;

  // The protection of the segment that the address lies in, as the program headers have it.
  int protection_of(uintptr_t address) const;

  uintptr_t bias = 0;
  uintptr_t begin = ~uintptr_t{0}, end = 0;
  uintptr_t relro_begin = 0, relro_end = 0;  // whole pages that were made read-only
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const uint32_t* hashes = nullptr;  // DT_GNU_HASH
  size_t symbol_count = 0;           // by DT_HASH; 0 without that table
  bool symbolic = false;             // DF_SYMBOLIC: its own definitions take precedence
  std::span<const ElfW(Phdr)> parts;
  std::span<const ElfW(Rela)> jump_slots;
  std::span<const ElfW(Rela)> data;  // without the leading ones that have no symbol

 private:
  void read_dynamic(const ElfW(Dyn) * entry);
};

// Writes words of a module's writable segments. Pages that the dynamic linker has made read-only
// are opened at the first write to them, and read-only again after the last.
class ModuleWriter {
 public:
  explicit ModuleWriter(const LoadedModule& module) : module_(module) {}
  ModuleWriter(const ModuleWriter&) = delete;
  ModuleWriter& operator=(const ModuleWriter&) = delete;
  ~ModuleWriter();

  // False if the kernel refuses, or if the segment is not writable, as that of a text relocation:
  // the word is unchanged.
  bool write(uintptr_t* word, uintptr_t value);

 private:
  const LoadedModule& module_;
  bool is_open_ = false;
};

}  // namespace halo::runtime
