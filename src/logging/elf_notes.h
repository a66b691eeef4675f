// What a module's own headers in memory say of it: where its code lies, its build-id.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>

namespace halo::logging {

// Reads by /proc/self/mem, so that a module which another thread closes meanwhile does no harm.
class ElfNotes {
 public:
  // `base`: address of its ELF header.
  explicit ElfNotes(uint64_t base);

  uint64_t code_begin() const { return code_begin_; }
  uint64_t code_end() const { return code_end_; }
  // The ELF virtual address of what lies at that offset of the file; 0: of nothing.
  uint64_t address_of_offset(uint64_t offset) const;

  // At most 64 bytes of it, in hex; empty where there is none.
  template <size_t Size>
  void print_build_id(char (&text)[Size]) const {
    static_assert(Size > 2 * sizeof build_id_);
    for (size_t at = 0; at < build_id_bytes_; ++at) {
      text[2 * at] = "0123456789abcdef"[build_id_[at] >> 4];
      text[2 * at + 1] = "0123456789abcdef"[build_id_[at] & 15];
    }
    text[2 * build_id_bytes_] = '\0';
  }

 private:
  void read_build_id(int memory, uint64_t address, uint64_t bytes);

  Elf64_Phdr segments_[32];
  size_t count_ = 0;
  uint64_t code_begin_ = 0;
  uint64_t code_end_ = 0;
  uint8_t build_id_[64];
  size_t build_id_bytes_ = 0;
};

}  // namespace halo::logging
