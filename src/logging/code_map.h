// Where code lies in this process: what the trace's kMaps frames say.
#pragma once

#include <cstdint>

#include "logging/module_table.h"
#include "logging/text.h"

namespace halo::logging {

class CodeMap {
 public:
  // As if they had never been read; also where a fork has interrupted refresh().
  void forget();
  // Reads the mappings anew. True where some are executable that were not there before.
  bool refresh();
  bool contains(uint64_t address) const;
  // JSON, see docs/trace-format.md.
  const Text& json() const { return json_; }

 private:
  static constexpr uint32_t kMost = 4096;

  bool read_maps();
  void add_mapping(char* line);
  void print(const AddressRange& range, uint64_t vaddr, const char* path, const char* build_id);

  Text maps_;
  Text json_;
  AddressRange ranges_[kMost];  // ascending
  uint32_t count_ = 0;
  mutable uint32_t last_found_ = 0;
  uint64_t digest_ = 0;
  // The last mapping of a file's beginning, which holds its ELF header.
  uint64_t head_at_ = 0;
  uint64_t head_inode_ = 0;
};

}  // namespace halo::logging
