#include "runtime/build_id.h"

#include <elf.h>

#include <cstring>

namespace halo::runtime {
namespace {

// Notes are only read where the module is really loaded.
bool is_loaded(const dl_phdr_info& module, const ElfW(Phdr) & part) {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& load = module.dlpi_phdr[i];
    if (load.p_type == PT_LOAD && part.p_vaddr >= load.p_vaddr &&
        part.p_vaddr + part.p_memsz <= load.p_vaddr + load.p_filesz)
      return true;
  }
  return false;
}

std::span<const std::uint8_t> build_id_in(std::span<const char> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(notes.data());
    const std::size_t name_bytes = (note->n_namesz + std::size_t{3}) & ~std::size_t{3};
    const std::size_t data_bytes = (note->n_descsz + std::size_t{3}) & ~std::size_t{3};
    const char* name = notes.data() + sizeof *note;
    notes = notes.subspan(sizeof *note);
    if (notes.size() < name_bytes + data_bytes) break;
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
      return {reinterpret_cast<const std::uint8_t*>(name + name_bytes), note->n_descsz};
    notes = notes.subspan(name_bytes + data_bytes);
  }
  return {};
}

}  // namespace

std::span<const std::uint8_t> build_id_of(const dl_phdr_info& module) {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module.dlpi_phdr[i];
    if (part.p_type != PT_NOTE || !is_loaded(module, part)) continue;
    const auto* at = reinterpret_cast<const char*>(module.dlpi_addr + part.p_vaddr);
    if (const auto found = build_id_in({at, part.p_memsz}); !found.empty()) return found;
  }
  return {};
}

}  // namespace halo::runtime
