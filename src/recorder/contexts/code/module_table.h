// Resolves code addresses of the recorded program to a file and an offset in it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "recorder/contexts/code/memory_map.h"

namespace halo::record {

struct Module {
  std::string path;
  std::string build_id;  // hex; empty if unknown
  uint64_t inode = 0;
  bool of_recorder = false;  // no code of it is the recorded program's
};

struct CodePlace {
  int32_t module = -1;  // -1: no file
  uint64_t offset = 0;  // virtual address in the ELF file; the absolute one if module is -1
};

// A part of a file's code in memory.
struct CodeMapping {
  AddressRange range;
  uint64_t first_vaddr = 0;  // ELF virtual address of the range's begin
  std::string path;
  uint64_t inode = 0;
  std::string build_id;
  bool of_recorder = false;
};

// Finds the recorded program's current code: passes each mapping to the visitor.
using CodeVisitor = std::function<void(const CodeMapping&)>;
using CodeSource = std::function<void(const CodeVisitor&)>;

class ModuleTable {
 public:
  explicit ModuleTable(CodeSource source) : source_(std::move(source)) {}

  CodePlace locate(uint64_t address);

  // The guest has changed its mappings: they are read again before the next miss.
  void mappings_changed() { are_read_ = false; }
  // Reads the mappings if they have changed.
  void read_if_changed();
  // Invalidates a range of addresses.
  void invalidate(AddressRange range);
  bool contains_any_of(AddressRange range) const;

  const std::vector<Module>& modules() const { return modules_; }

 private:
  struct Mapping {
    AddressRange range;
    int32_t module;
    uint64_t first_vaddr;  // ELF virtual address of the range's begin
  };

  const Mapping* find(uint64_t address) const;
  void read_maps();
  int32_t module_index(const CodeMapping& mapping);

  const CodeSource source_;
  std::vector<Module> modules_;
  std::vector<Mapping> mappings_;  // ascending
  bool are_read_ = false;          // since the last change
};

}  // namespace halo::record
