#include "runtime/code/build_id.h"

#include "base/build_id.h"
#include "base/module_digest.h"

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

ModuleDigest digest_of(const dl_phdr_info& module) {
  return ModuleDigest({module.dlpi_addr, {module.dlpi_phdr, module.dlpi_phnum}});
}

}  // namespace

std::span<const uint8_t> build_id_of(const dl_phdr_info& module) {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module.dlpi_phdr[i];
    if (part.p_type != PT_NOTE || !is_loaded(module, part)) continue;
    const auto* at = reinterpret_cast<const uint8_t*>(module.dlpi_addr + part.p_vaddr);
    const auto found = find_build_id({at, part.p_memsz}, part.p_align);
    if (!found.empty()) return found;
  }
  return {};
}

bool has_code(const plan::CheckedModule& checked, const dl_phdr_info& module) {
  return checked.code == 0 || digest_of(module).code() == checked.code;
}

Match match(const plan::Module& planned, const dl_phdr_info& module,
            std::span<const uint8_t> build_id) {
  if (!has_build_id(planned, build_id)) return Match::kNo;
  const bool same = planned.layout == 0 || digest_of(module).layout() == planned.layout;
  return same ? Match::kYes : Match::kBuildIdOnly;
}

}  // namespace halo::runtime
