#include "runtime/modules/loaded_module.h"

#include <sys/mman.h>

#include <algorithm>

#include "runtime/pages/page.h"

namespace halo::runtime {
namespace {

// The parts of DT_GNU_HASH: four words, a filter of 64-bit words, the buckets, and a chain of
// hashes.
struct HashTable {
  explicit HashTable(const uint32_t* words)
      : bucket_count(words[0]),
        first(words[1]),
        filter_count(words[2]),
        shift(words[3]),
        filter(reinterpret_cast<const uint64_t*>(words + 4)),
        buckets(words + 4 + size_t{filter_count} * 2),
        chain(buckets + bucket_count) {}

  // False if no symbol has that hash.
  bool may_have(uint32_t hash) const {
    if (bucket_count == 0 || filter_count == 0) return false;
    const uint64_t word = filter[hash / 64 % filter_count];
    return (word >> (hash % 64) & word >> (hash >> shift) % 64 & 1) != 0;
  }
  // The linkers write such a table for a module that defines nothing. Its first index means
  // nothing.
  bool is_empty() const { return bucket_count <= 1 && (bucket_count == 0 || buckets[0] == 0); }

  uint32_t bucket_count;
  uint32_t first;  // index of the first symbol that has a hash
  uint32_t filter_count;
  uint32_t shift;
  const uint64_t* filter;
  const uint32_t* buckets;
  const uint32_t* chain;
};

}  // namespace

SymbolName::SymbolName(const char* name) : text(name), hash(5381) {
  for (const char c : text) hash = hash * 33 + static_cast<unsigned char>(c);
}

LoadedModule::LoadedModule(const dl_phdr_info& info)
    : bias(info.dlpi_addr), parts(info.dlpi_phdr, info.dlpi_phnum) {
  const ElfW(Dyn)* dynamic = nullptr;
  for (const ElfW(Phdr) & part : parts) {
    const uintptr_t part_begin = bias + part.p_vaddr;
    const uintptr_t part_end = part_begin + part.p_memsz;
    if (part.p_type == PT_LOAD) {
      begin = std::min(begin, part_begin);
      end = std::max(end, part_end);
    } else if (part.p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(part_begin);
    } else if (part.p_type == PT_GNU_RELRO) {
      relro_begin = part_begin & ~(kSystemPage - 1);
      relro_end = part_end & ~(kSystemPage - 1);
    }
  }
  if (dynamic != nullptr) read_dynamic(dynamic);
}

void LoadedModule::read_dynamic(const ElfW(Dyn) * entry) {
  const ElfW(Rela)* slots = nullptr;
  const ElfW(Rela)* others = nullptr;
  size_t slot_bytes = 0, other_bytes = 0, relative = 0;
  // glibc has relocated these addresses, except those of the vDSO.
  const auto absolute = [&](const ElfW(Dyn) & at) {
    return at.d_un.d_ptr < bias ? at.d_un.d_ptr + bias : at.d_un.d_ptr;
  };
  for (; entry->d_tag != DT_NULL; ++entry) switch (entry->d_tag) {
      case DT_JMPREL:
        slots = reinterpret_cast<const ElfW(Rela)*>(absolute(*entry));
        break;
      case DT_PLTRELSZ:
        slot_bytes = entry->d_un.d_val;
        break;
      case DT_RELA:
        others = reinterpret_cast<const ElfW(Rela)*>(absolute(*entry));
        break;
      case DT_RELASZ:
        other_bytes = entry->d_un.d_val;
        break;
      case DT_RELACOUNT:
        relative = entry->d_un.d_val;
        break;
      case DT_SYMTAB:
        symbols = reinterpret_cast<const ElfW(Sym)*>(absolute(*entry));
        break;
      case DT_STRTAB:
        strings = reinterpret_cast<const char*>(absolute(*entry));
        break;
      case DT_GNU_HASH:
        hashes = reinterpret_cast<const uint32_t*>(absolute(*entry));
        break;
      case DT_HASH:
        symbol_count = reinterpret_cast<const uint32_t*>(absolute(*entry))[1];
        break;
      case DT_SYMBOLIC:
        symbolic = true;
        break;
      case DT_FLAGS:
        symbolic |= (entry->d_un.d_val & DF_SYMBOLIC) != 0;
        break;
      default:
        break;
    }
  if (symbols == nullptr || strings == nullptr) return;
  if (slots != nullptr) jump_slots = {slots, slot_bytes / sizeof(ElfW(Rela))};
  if (others == nullptr) return;
  data = {others, other_bytes / sizeof(ElfW(Rela))};
  data = data.subspan(std::min(relative, data.size()));
}

int LoadedModule::protection_of(uintptr_t address) const {
  for (const ElfW(Phdr) & part : parts) {
    if (part.p_type != PT_LOAD || address - bias - part.p_vaddr >= part.p_memsz) continue;
    return ((part.p_flags & PF_R) != 0 ? PROT_READ : 0) |
           ((part.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
           ((part.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
  }
  return PROT_NONE;
}

const ElfW(Sym) * LoadedModule::find(const SymbolName& name) const {
  const ElfW(Sym)* symbol = look_up(name);
  return symbol == nullptr || symbol->st_shndx == SHN_UNDEF ? nullptr : symbol;
}

const ElfW(Sym) * LoadedModule::look_up(const SymbolName& name) const {
  if (symbols == nullptr || strings == nullptr) return nullptr;
  if (hashes == nullptr) {
    const std::span all(symbols, symbol_count);
    const auto found =
        std::ranges::find(all, name.text, [&](auto& each) { return strings + each.st_name; });
    return found == all.end() ? nullptr : &*found;
  }
  const HashTable table(hashes);
  if (!table.may_have(name.hash)) return nullptr;
  uint32_t at = table.buckets[name.hash % table.bucket_count];
  if (at < table.first) return nullptr;
  for (;; ++at) {
    const uint32_t its = table.chain[at - table.first];
    const ElfW(Sym)& symbol = symbols[at];
    if ((its | 1) == (name.hash | 1) && name.text == strings + symbol.st_name) return &symbol;
    if ((its & 1) != 0) return nullptr;  // the last of its bucket
  }
}

std::span<const ElfW(Sym)> LoadedModule::without_hash() const {
  if (hashes == nullptr || symbols == nullptr || strings == nullptr) return {};
  const HashTable table(hashes);
  return table.is_empty() ? std::span<const ElfW(Sym)>{} : std::span{symbols, table.first};
}

bool ModuleWriter::write(uintptr_t* word, uintptr_t value) {
  const size_t bytes = module_.relro_end - module_.relro_begin;
  const auto address = reinterpret_cast<uintptr_t>(word);
  if ((module_.protection_of(address) & PROT_WRITE) == 0) return false;
  if (address - module_.relro_begin < bytes && !is_open_) {
    if (mprotect(reinterpret_cast<void*>(module_.relro_begin), bytes, PROT_READ | PROT_WRITE) != 0)
      return false;
    is_open_ = true;
  }
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
  return true;
}

ModuleWriter::~ModuleWriter() {
  if (is_open_)
    mprotect(reinterpret_cast<void*>(module_.relro_begin), module_.relro_end - module_.relro_begin,
             PROT_READ);
}

}  // namespace halo::runtime
