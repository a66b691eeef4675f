// An ELF file as it lies in memory: program headers and build-id.
#pragma once

#include <elf.h>

#include <cstdint>
#include <span>
#include <string>

#include "record/memory_map.h"

namespace halo::record {

// Read from memory, because the file may have been replaced or removed since it was mapped.
class ElfImage {
 public:
  // `first`: the mapping of the file's beginning. Without segments if that is no ELF file.
  explicit ElfImage(const AddressRange& first);

  std::span<const Elf64_Phdr> segments() const { return segments_; }
  // In hex; empty if there is none within the first mapping.
  std::string build_id() const;

 private:
  AddressRange first_;
  std::span<const Elf64_Phdr> segments_;
};

}  // namespace halo::record
