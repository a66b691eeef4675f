// An ELF file as it lies in memory: program headers and build-id.
#pragma once

#include <elf.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halo::record {

// Read from memory, because the file may have been replaced or removed since it was mapped.
class ElfImage {
 public:
  // `first`: the mapping of the file's beginning, or as much of it as is known. Without segments if
  // that is no ELF file.
  explicit ElfImage(std::vector<uint8_t> first);

  std::span<const Elf64_Phdr> segments() const { return segments_; }
  // In hex; empty if there is none within what is known.
  std::string build_id() const;

 private:
  const std::vector<uint8_t> first_;
  std::span<const Elf64_Phdr> segments_;
};

}  // namespace halo::record
