// What a module's own headers in memory say of it: where its code lies, its build-id.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>

#include "base/build_id.h"

namespace halo::logging {

// Reads by /proc/self/mem, so that a module which another thread closes meanwhile does no harm.
class ElfNotes {
 public:
  // `base`: address of its ELF header.
  explicit ElfNotes(uint64_t base);

  uint64_t code_begin() const { return code_begin_; }
  uint64_t code_end() const { return code_end_; }
  // The ELF virtual address of the code at that offset of the file; 0: there is none. Segments of
  // data may share its first page.
  uint64_t address_of_code_offset(uint64_t offset) const;

  // In hex; empty if it has none.
  const BuildIdText& build_id() const { return build_id_; }

 private:
  void read_build_id(int memory, const Elf64_Phdr& segment, uint64_t address);

  Elf64_Phdr segments_[32];
  size_t count_ = 0;
  uint64_t code_begin_ = 0;
  uint64_t code_end_ = 0;
  BuildIdText build_id_ = "";
};

}  // namespace halo::logging
