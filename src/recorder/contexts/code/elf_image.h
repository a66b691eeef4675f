// An ELF file in memory: program headers and build-id.
#pragma once

#include <elf.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halo::record {

// Parsed from memory, because the file may have been replaced or removed since it was mapped.
class ElfImage {
 public:
  // `first`: the contents of the file's first mapping, or the readable part of it. If it is not an
  // ELF file, the image has no segments.
  explicit ElfImage(std::vector<uint8_t> first);

  std::span<const Elf64_Phdr> segments() const { return segments_; }
  // In hex; empty if the readable part has none.
  std::string build_id() const;

 private:
  const std::vector<uint8_t> first_;
  std::span<const Elf64_Phdr> segments_;
};

}  // namespace halo::record
