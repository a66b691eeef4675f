// Which file a code address of the recorded program belongs to, and where in that file.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "record/elf_image.h"
#include "record/memory_map.h"

namespace halo::record {

struct Module {
  std::string path;
  std::string build_id;  // hex; empty where not known
  uint64_t inode = 0;
};

struct CodePlace {
  int32_t module = -1;  // -1: in no file
  uint64_t offset = 0;  // virtual address in the ELF file; the absolute one where module is -1
};

// Not synchronised, except where stated.
class ModuleTable {
 public:
  CodePlace locate(uint64_t address);

  // The guest changes its mappings: look again before the next miss. From any thread.
  void mappings_changed() { changes_.fetch_add(1, std::memory_order_relaxed); }
  // What is known about a range no longer holds.
  void forget(AddressRange range);
  bool knows_any_of(AddressRange range) const;

  const std::vector<Module>& modules() const { return modules_; }

 private:
  struct Mapping {
    AddressRange range;
    int32_t module;
    uint64_t first_vaddr;  // ELF virtual address of the range's begin
  };

  const Mapping* find(uint64_t address) const;
  void read_maps();
  void add_code(const MapsLine& line, const ElfImage& image);
  int32_t module_index(const std::string& path, uint64_t inode);

  std::vector<Module> modules_;
  std::vector<Mapping> mappings_;  // ascending
  std::atomic<uint64_t> changes_{1};
  uint64_t changes_read_ = 0;
};

}  // namespace halo::record
