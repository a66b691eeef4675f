#include "runtime/code/build_id.h"

#include "base/build_id.h"

namespace halo::runtime {
namespace {

// Only note segments inside a loaded segment may be read.
bool is_loaded(const dl_phdr_info& module, const ElfW(Phdr) & part) {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& load = module.dlpi_phdr[i];
    if (load.p_type == PT_LOAD && part.p_vaddr >= load.p_vaddr &&
        part.p_vaddr + part.p_memsz <= load.p_vaddr + load.p_filesz)
      return true;
  }
  return false;
}

}  // namespace

std::span<const std::uint8_t> build_id_of(const dl_phdr_info& module) {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module.dlpi_phdr[i];
    if (part.p_type != PT_NOTE || !is_loaded(module, part)) continue;
    const auto* at = reinterpret_cast<const std::uint8_t*>(module.dlpi_addr + part.p_vaddr);
    const auto found = find_build_id({at, part.p_memsz}, part.p_align);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace halo::runtime
