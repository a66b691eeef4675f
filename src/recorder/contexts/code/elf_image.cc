// Parses ELF headers in memory.
#include "recorder/contexts/code/elf_image.h"

#include <cstring>
#include <utility>

#include "base/build_id.h"

namespace halo::record {

ElfImage::ElfImage(std::vector<uint8_t> first) : first_(std::move(first)) {
  if (first_.size() < sizeof(Elf64_Ehdr) || memcmp(first_.data(), ELFMAG, SELFMAG) != 0) return;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(first_.data());
  if (header->e_phoff + header->e_phnum * sizeof(Elf64_Phdr) > first_.size()) return;
  segments_ = {reinterpret_cast<const Elf64_Phdr*>(first_.data() + header->e_phoff),
               header->e_phnum};
}

std::string ElfImage::build_id() const {
  for (const Elf64_Phdr& header : segments_) {
    if (header.p_type != PT_NOTE || header.p_offset + header.p_filesz > first_.size()) continue;
    const auto found =
        find_build_id(std::span(first_).subspan(header.p_offset, header.p_filesz), header.p_align);
    if (found.empty()) continue;
    BuildIdText text;
    print_build_id(found, text);
    return text;
  }
  return "";
}

}  // namespace halo::record
