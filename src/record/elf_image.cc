// Parsing of ELF headers in memory.
#include "record/elf_image.h"

#include <cstdio>
#include <cstring>
#include <utility>

namespace halo::record {

namespace {

std::string hex_of(const uint8_t* bytes, size_t count) {
  std::string hex;
  for (size_t at = 0; at < count; ++at) {
    char digits[3];
    snprintf(digits, sizeof digits, "%02x", bytes[at]);
    hex += digits;
  }
  return hex;
}

std::string build_id_in_notes(const uint8_t* notes, uint64_t size, uint64_t alignment) {
  const uint64_t step = alignment == 8 ? 8 : 4;
  const auto padded = [&](uint64_t length) { return (length + step - 1) / step * step; };
  for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= size;) {
    const auto* note = reinterpret_cast<const Elf64_Nhdr*>(notes + at);
    const uint64_t name = at + sizeof *note;
    const uint64_t data = at + padded(sizeof *note + note->n_namesz);
    if (data + note->n_descsz > size) break;
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
        memcmp(notes + name, "GNU", 4) == 0) {
      return hex_of(notes + data, note->n_descsz);
    }
    at = padded(data + note->n_descsz);
  }
  return "";
}

}  // namespace

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
    const std::string id =
        build_id_in_notes(first_.data() + header.p_offset, header.p_filesz, header.p_align);
    if (!id.empty()) return id;
  }
  return "";
}

}  // namespace halo::record
