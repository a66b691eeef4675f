// Which file a code address of the recorded program belongs to, and where in that file.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "record/memory_map.h"

namespace halo::record {

struct Module {
  std::string path;
  std::string build_id;  // hex; empty where not known
  uint64_t inode = 0;
  bool of_recorder = false;  // nothing of it is the recorded program's
};

struct CodePlace {
  int32_t module = -1;  // -1: in no file
  uint64_t offset = 0;  // virtual address in the ELF file; the absolute one where module is -1
};

// A piece of a file's code in memory.
struct CodeMapping {
  AddressRange range;
  uint64_t first_vaddr = 0;  // ELF virtual address of the range's begin
  std::string path;
  uint64_t inode = 0;
  std::string build_id;
  bool of_recorder = false;
};

// Where the recorded program's code lies now: gives each mapping to the visitor.
using CodeVisitor = std::function<void(const CodeMapping&)>;
using CodeSource = std::function<void(const CodeVisitor&)>;

// Not synchronised, except where stated.
class ModuleTable {
 public:
  explicit ModuleTable(CodeSource source) : source_(std::move(source)) {}

  CodePlace locate(uint64_t address);

  // The guest changes its mappings: look again before the next miss. From any thread.
  void mappings_changed() { changes_.fetch_add(1, std::memory_order_relaxed); }
  // Looks again now, if they have changed.
  void read_if_changed();
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
  int32_t module_index(const CodeMapping& mapping);

  const CodeSource source_;
  std::vector<Module> modules_;
  std::vector<Mapping> mappings_;  // ascending
  std::atomic<uint64_t> changes_{1};
  uint64_t changes_read_ = 0;
};

}  // namespace halo::record
