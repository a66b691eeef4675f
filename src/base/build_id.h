// Build-ids, from the notes of an ELF file as they lie in memory.
#pragma once

#include <elf.h>
#include <string.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace halo {

// The build-id in a segment of notes with that alignment; empty if it has none.
inline std::span<const uint8_t> find_build_id(std::span<const uint8_t> notes, uint64_t alignment) {
  const uint64_t step = alignment == 8 ? 8 : 4;
  const auto padded = [&](uint64_t length) { return (length + step - 1) / step * step; };
  for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    Elf64_Nhdr note;
    memcpy(&note, notes.data() + at, sizeof note);
    const uint8_t* const name = notes.data() + at + sizeof note;
    const uint64_t data = at + padded(sizeof note + note.n_namesz);
    if (data + note.n_descsz > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0)
      return notes.subspan(data, note.n_descsz);
    at = padded(data + note.n_descsz);
  }
  return {};
}

inline constexpr size_t kMaxBuildId = 64;  // bytes; of a longer one the rest is cut off
using BuildIdText = char[2 * kMaxBuildId + 1];

inline void print_build_id(std::span<const uint8_t> build_id, BuildIdText& text) {
  char* to = text;
  for (const uint8_t byte :
       build_id.first(build_id.size() < kMaxBuildId ? build_id.size() : kMaxBuildId)) {
    *to++ = "0123456789abcdef"[byte >> 4];
    *to++ = "0123456789abcdef"[byte & 15];
  }
  *to = '\0';
}

}  // namespace halo
